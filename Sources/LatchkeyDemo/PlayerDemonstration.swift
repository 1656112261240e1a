import Foundation
import Latchkey
import LatchkeyCore
import LatchkeyFairPlay
import LatchkeyServices
import LatchkeySimulation
import LatchkeySupport
import LatchkeyTerminal
import LatchkeyTesting
import StandInEngine

/// Plays the applications of `Examples` against the emulated services: their players' stand-ins make the SPCs, open the CKCs,
/// decrypt and decode.
@MainActor
struct PlayerDemonstration {
    let stage: DemoStage
    let exchanges: ExchangeWatch
    private let recorder: TraceRecorder

    /// The number of heartbeats or renewals of a session to wait for while time passes.
    private nonisolated static let beats = 3

    /// - Parameter recorder: records the events.
    init(on stage: DemoStage, _ exchanges: ExchangeWatch, _ recorder: TraceRecorder = TraceRecorder()) {
        self.stage = stage
        self.exchanges = exchanges
        self.recorder = recorder
        StandInHardware.register(stage.credentials)
    }

    /// Plays one form of a document.
    /// - Returns: the page's row, the text to print, and whether everything is right.
    func play(
        _ form: DemoDocument.Form, of document: DemoDocument
    ) async -> (row: DemoPage.Row, text: String, isRight: Bool) {
        let owner = "\(document.title), \(form.name)"
        func row(_ line: DemoLine?, _ problem: TraceProblem? = nil) -> DemoPage.Row {
            DemoPage.Row(document.title, form.name, line, problem: problem, recorder.trace.part(of: owner))
        }
        do {
            let line = try await line(form, owner)
            return (row(line), line.text, line.isRight)
        } catch {
            let problem = TraceProblem(error)
            recorder.add(problem)
            return (row(nil, problem), Failure(error).text, false)
        }
    }

    private func line(_ form: DemoDocument.Form, _ owner: String) async throws -> DemoLine {
        let bench = try bench(for: form)
        defer { if bench.address != stage.bench.address { Task { await bench.host.stop(within: .zero) } } }
        guard let service = bench.host.services.first(where: { $0.identifier == form.service }) else {
            throw UsageError("there is no service \(form.service).")
        }
        let time = ManualTimekeeper()
        // A separate stage, because some SDKs have one delegate for all of their players.
        let simulated =
            form.keepAlive == nil
            ? StandInStage(reference: stage.reference)
            : StandInStage(timekeeper: time, reference: stage.reference)
        let (asked, period, decoded) = (Locked<Int?>(nil), Locked(0), Locked<Date?>(nil))
        let scene = try scene(form, owner, service, bench) { [exchanges] in
            decoded.withLock { $0 = Date() }
            asked.withLock { $0 = Self.requests(of: bench) }
            guard let keepAlive = form.keepAlive else { return }
            let seconds = NAGRAService.defaultHeartbeat
            for beat in 1...Self.beats {
                await time.untilSomeoneSleeps(for: seconds)
                time.advance(by: seconds)
                try await exchanges.until(beat, of: "\(keepAlive.trace)")
                period.withLock { $0 = beat }
            }
        }
        let before = Self.requests(of: bench)
        let first = bench.host.journal.count
        defer { note(bench.host.journal.dropFirst(first), of: owner, decodedAt: decoded.withLock { $0 } ?? Date()) }
        let result: StandInPlayback.Result
        do { result = try await simulated.run { try await form.play(scene) } } catch {
            // The error that the application got from the adapter is more specific than the player's.
            throw scene.errors.error ?? error
        }
        var line = DemoLine(
            requests: (asked.withLock { $0 } ?? Self.requests(of: bench)) - before,
            timeToKey: form.keepAlive == nil ? result.timeToKey : nil,
            frames: result.frameCount, picture: scene.picture, page: stage.page, isRight: result.isRight)
        line.remark = form.keepAlive.map { keepAlive in
            let beats = period.withLock { $0 }
            let passed = NAGRAService.defaultHeartbeat * beats
            return "\(beats) \(keepAlive.name) in \(passed.shown) of virtual time"
        }
        return line
    }

    /// Adds to the trace the services' exchanges, and decoding, which begins with the last of them.
    private func note(_ entries: some Sequence<JournalEntry>, of owner: String, decodedAt end: Date) {
        var last: Date?
        for entry in entries {
            let path = entry.path.prefix { $0 != "?" }
            let isMedia = path.hasPrefix("/media/")
            let name = isMedia ? (path.hasSuffix(".m3u8") ? "playlist" : "media") : "\(path)"
            var span = TraceSpan(
                .service, "service: \(entry.method) \(name)",
                from: entry.end.addingTimeInterval(-entry.duration.inSeconds), for: entry.duration)
            span.owner = owner
            var exchange = RecordedExchange(
                RecordedRequest(method: entry.method, url: entry.path), entry.status.map { HTTPReply(status: $0) })
            exchange.requestID = entry.requestID
            span.exchange = exchange
            span.code = entry.status.map { $0 >= 400 ? "\($0)" : nil } ?? "reset"
            recorder.add(span)
            if entry.end < end { last = max(last ?? entry.end, entry.end) }
        }
        guard let last else { return }
        var span = TraceSpan(
            .work, "decryption and decoding", from: last, for: .seconds(end.timeIntervalSince(last)))
        span.owner = owner
        recorder.add(span)
    }

    private func scene(
        _ form: DemoDocument.Form, _ owner: String, _ service: any VendorService, _ bench: TestBench,
        passTime: @escaping @Sendable () async throws -> Void
    ) throws -> DemoDocument.Scene {
        let address = bench.media("\(form.asset.rawValue)/master.m3u8", through: service)
        guard let content = URL(string: address) else { throw UsageError("\(address) is not a valid address.") }
        return DemoDocument.Scene(
            content: content,
            // THEOplayer's source has one address for all keys.
            settings: service.parameters(
                at: bench.mount(of: service), for: form.service == "ezdrm" ? "ezdrm-complete" : "\(form.service)"),
            token: { service.demoToken().revealedText },
            picture: stage.output.appending(path: "\(form.picture).png"), errors: .init(), passTime: passTime,
            configuration: recorder.observing(
                LoaderConfiguration(hosts: HostPolicy(loopback: .http)), as: owner))
    }

    /// The stage's services; for sessions kept alive by renewals, a service whose licenses enforce them.
    private func bench(for form: DemoDocument.Form) throws -> TestBench {
        guard form.keepAlive == .renewals else { return stage.bench }
        let exchanges = exchanges
        return try TestBench.start(
            credentials: [stage.credentials.credential],
            keys: DemoAsset.keys(), media: DemoAsset.located(),
            log: { exchanges.note($0) }
        ) { authority in
            var service = NAGRAService(ServiceEnvironment(authority: authority))
            service.enforcesSessions = true
            return [service]
        }
    }

    /// The number of requests to the services, without those for media.
    private nonisolated static func requests(of bench: TestBench) -> Int {
        bench.host.journal.count { !$0.path.hasPrefix("/media/") }
    }
}
