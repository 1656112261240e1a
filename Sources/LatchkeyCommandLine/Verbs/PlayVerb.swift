import Foundation
import Latchkey
import LatchkeyCore
import LatchkeyDevice
import LatchkeyFairPlay
import LatchkeyHLS
import LatchkeyPlayback
import LatchkeySimulation
import LatchkeySupport
import LatchkeySystem
import LatchkeyTerminal
import LatchkeyVendors

/// `latchkey play`: gets a stream's keys from a vendor's license service, and decodes it.
struct PlayVerb: Verb {
    private let stream = StreamOptions()
    private var playlist: Positional { stream.playlist }
    private var vendor: VendorOptions { stream.vendor }
    private var credentials: Option<String> { stream.credentials }
    private let frame = Option("frame", .path("PNG"), "where to write a picture from the middle of the stream")
    private let out = Option("out", .path("FILE"), "where to write the clear stream, by its ending mp4, mkv or ts")
    private let force = Flag("force", "let --out replace a file")
    private let hashes = Option(
        "hashes", .path("FILE"), "the clear stream's hashes, in the form of the demo's hashes.json")
    private let device = Option(
        "device", .hex(bytes: 20), "the device's identifier, for licenses that are bound to one")
    private let reveal = Flag("reveal-test-keys", "show the content keys, which are test keys")
    private let offline = Flag("offline", "store the keys, then play with them and without a network")
    private let join = Option(
        "join", .choice(["AirPlay": StreamingDestination.airPlay, "HDMI": .digitalAVAdapter]),
        "then continue there, with new keys")
    private let virtual = Flag("virtual", "play a live stream on virtual time, with renewals and new keys")
    private let time = Option("for", .timeSpan, "with --virtual: how long, such as 12h; defaults to 1h")
    private let lease = Option("lease", .timeSpan, "with --virtual: how long each license holds; defaults to 10m")
    private let rotation = Option("rotation", .timeSpan, "with --virtual: how long each key is used; defaults to 1h")
    private let quiet = Flag("quiet", "print only problems")
    private let verbose = Flag("verbose", "print each step of the keys on standard error")

    var usage: Usage {
        Usage(
            name: "play", summary: "play a protected stream through a vendor's license service",
            details: VendorOptions.details,
            positionals: [playlist],
            options: vendor.profileOptions + vendor.hostOptions + [
                credentials, frame, out, force, hashes, reveal, device, offline, join, virtual, time, lease,
                rotation, quiet,
                verbose, TraceRecorder.option, Flag.json,
            ],
            examples: [
                "latchkey play --vendor vudrm --frame picture.png --trace trace.html",
                "latchkey play http://127.0.0.1:8080/media/vudrm/ts/master.m3u8 --vendor vudrm --loopback-http "
                    + "--credentials c …",
            ],
            yes: "every key came, and everything that was decoded is right",
            no: "something is wrong")
    }

    func run(_ arguments: Arguments, _ console: Console) async throws -> ExitStatus {
        try check(arguments)
        let report = Reporter(
            console: console, json: arguments[Flag.json], quiet: arguments[quiet], reveals: arguments[reveal])
        let recorder = try arguments.traceRecorder()
        if arguments[virtual] { return try await playLive(arguments, report, recorder) }
        if let address = try arguments.given(playlist).map(StreamFolder.playlist), !vendor.isNamed(in: arguments),
            arguments[credentials] == nil
        {
            return try await playClear(address, arguments, report, recorder)
        }
        var setting = try self.setting(arguments, console)
        setting.deviceIdentifier = arguments[device]
        setting.recorder = recorder
        console.progress("Playing \(setting.vendor.profile.name)")
        let result: Result<ExitStatus, any Error>
        do {
            result = .success(try await play(setting, arguments, report))
        } catch {
            recorder.add(error, at: "playback")
            result = .failure(error)
        }
        console.endProgress()
        await setting.close()
        try recorder.write(console)
        return try result.get()
    }

    /// Checks options that exclude each other, and files that exist.
    private func check(_ arguments: Arguments) throws {
        let isLive = arguments[virtual]
        if !isLive, let needless = [time.name, lease.name, rotation.name].first(where: { arguments.values[$0] != nil })
        {
            throw UsageError(
                "\(needless) goes with --virtual.", hint: "Example: latchkey play --vendor vudrm --for 12h --virtual")
        }
        if isLive, arguments.given(playlist) != nil {
            throw UsageError("--virtual plays its own live stream: virtual time does not pass at a server.")
        }
        let others = [
            credentials.name, frame.name, out.name, hashes.name, device.name, offline.name, join.name, reveal.name,
        ]
        if isLive, let needless = others.first(where: { arguments.values[$0] != nil }) {
            throw UsageError("\(needless) does not go with --virtual, which decodes nothing.")
        }
        if arguments[quiet], arguments[verbose] { throw UsageError("--quiet and --verbose do not go together.") }
        if let file = arguments[out], !arguments[force], FileManager.default.fileExists(atPath: file) {
            throw FileError.exists(file)
        }
    }

    private func playLive(
        _ arguments: Arguments, _ report: Reporter, _ recorder: TraceRecorder
    ) async throws -> ExitStatus {
        var live = LivePlay(
            profile: try vendor.plainProfile(arguments, report.console),
            completed: { [vendor] in try vendor.configured(arguments, completedBy: $0, report.console) },
            duration: arguments[time] ?? .seconds(3_600),
            lease: arguments[lease] ?? .seconds(600))
        live.recorder = recorder
        live.rotation = arguments[rotation] ?? live.rotation
        let summary = try await live.report()
        try recorder.write(report.console)
        try report.show(summary)
        return summary.right ? .yes : .no
    }

    private static let hashesLimit = 16 << 20

    private func setting(_ arguments: Arguments, _ console: Console) throws -> PlaySetting {
        try stream.setting(arguments, terms: LicenseTerms(arguments[offline] ? .persistent : .unlimited), console) {
            try reference(arguments, console)
        }
    }

    private func play(
        _ setting: PlaySetting, _ arguments: Arguments, _ report: Reporter
    ) async throws -> ExitStatus {
        let ffmpeg = try FFmpeg()
        let picture = arguments[frame].map { URL(filePath: $0) }
        let clearMedia = arguments[out].map { URL(filePath: $0) }
        var parts: [PlayPart] = []
        if arguments[offline] {
            let offline = try OfflinePlay(setting, ffmpeg)
            let (stream, stored) = try await offline.download()
            parts.append(PlayPart("stored", stored, decodes: false))
            if stored.failure == nil {
                let played = try await offline.play(stream, picture: picture, clearMedia: clearMedia)
                parts.append(PlayPart("without a network", played))
            }
        }
        if !arguments[offline] || arguments[join] != nil, parts.allSatisfy(\.isRight) {
            parts += try await playOnline(setting, arguments, ffmpeg, isFirst: parts.isEmpty, report.console)
        }
        try Task.checkCancellation()
        for part in parts { note(part, in: setting.recorder) }
        var remarks: PlayRemarks?
        if arguments.given(playlist) != nil {
            let web = WebResources(transport: setting.transport, watch: setting.delivery)
            remarks = await PlayRemarks(on: setting.address, web, setting.delivery, played: parts.last?.report)
        } else if let service = setting.bench?.service(forProfile: setting.vendor.profile.identifier) {
            let broken = PlayRemarks(brokenAt: service)
            remarks = broken.checks.isEmpty ? nil : broken
        }
        report.console.endProgress()
        try report.show(parts, vendor: setting.vendor.profile.identifier, remarks)
        return parts.allSatisfy(\.isRight) && remarks?.hasError != true ? .yes : .no
    }

    /// Plays a stream without keys, which needs neither a vendor nor a device.
    private func playClear(
        _ address: String, _ arguments: Arguments, _ report: Reporter, _ recorder: TraceRecorder
    ) async throws -> ExitStatus {
        let needless = [device.name, offline.name, join.name, reveal.name]
        if let option = needless.first(where: { arguments.values[$0] != nil }) {
            throw UsageError("\(option) goes with --vendor or --profile.")
        }
        let reference = try reference(arguments, report.console)
        let ffmpeg = try FFmpeg()
        let delivery = DeliveryWatch()
        let web = WebResources(
            transport: recorder.watching(try vendor.transport(arguments, report.console)), watch: delivery)
        let found = try await KeyDiscovery(web).keys(at: address)
        if let failure = found.failures.first { throw failure.error }
        guard PlaylistChecks(found).isClear else {
            throw UsageError("PLAYLIST names keys: --vendor ID or --profile FILE is missing, and --credentials DIR.")
        }
        let folder = try WorkingFolder()
        defer { folder.remove() }
        let copy = try await StreamDownload(web).copy(address, into: folder.url)
        let playback = try await StreamPlayer(ffmpeg).play(
            copy, keys: [:], picture: arguments[frame].map { URL(filePath: $0) },
            clearMedia: arguments[out].map { URL(filePath: $0) })
        let played = StreamReport(clear: playback, playlists: copy.tracks.count, reference: reference)
        let remarks = PlayRemarks(found, delivery, played: played)
        try recorder.write(report.console)
        let part = PlayPart(nil, played)
        try report.show([part], vendor: nil, remarks)
        return part.isRight && !remarks.hasError ? .yes : .no
    }

    private func reference(_ arguments: Arguments, _ console: Console) throws -> ReferenceHashes? {
        try arguments[hashes].map {
            try ReferenceHashes(json: InputFile.read($0, limit: Self.hashesLimit, console))
        }
    }

    /// Adds events to the trace that no loader knows: decoding, and wrong pictures.
    private func note(_ part: PlayPart, in recorder: TraceRecorder?) {
        if let (start, length) = part.report.decoding {
            recorder?.add(TraceSpan(.work, "decryption and decoding", from: start, for: length))
        }
        guard !part.isRight else { return }
        if let failure = part.report.failure {
            recorder?.add(failure, at: "key")
        } else {
            recorder?.add(
                TraceProblem(
                    stage: "playback", code: "wrongPicture",
                    reason: "Every key came, but the decoded stream differs from the clear stream.",
                    remedy: "Check that the service gives the key and IV with which the stream was encrypted."))
        }
    }

    private func playOnline(
        _ setting: PlaySetting, _ arguments: Arguments, _ ffmpeg: FFmpeg, isFirst: Bool, _ console: Console
    ) async throws -> [PlayPart] {
        let loader = setting.loader()
        defer { loader.cancel() }
        let telling =
            arguments[verbose] ? Task { for await event in loader.events() { console.note("\(event)") } } : nil
        defer { telling?.cancel() }
        let player = setting.player(loader)
        var parts: [PlayPart] = []
        if isFirst {
            let report = try await player.play(
                setting.address, with: ffmpeg, picture: arguments[frame].map { URL(filePath: $0) },
                clearMedia: arguments[out].map { URL(filePath: $0) }, reference: setting.reference)
            parts.append(PlayPart(nil, report))
        }
        if let destination = arguments[join], parts.allSatisfy(\.isRight) {
            let report = try await player.joining(destination).play(
                setting.address, with: ffmpeg, reference: setting.reference)
            parts.append(PlayPart("on \(destination == .airPlay ? "AirPlay" : "HDMI"), keys requested again", report))
        }
        return parts
    }
}
