import Foundation
import Latchkey
import LatchkeyCore
import LatchkeyFairPlay
import LatchkeyHLS
import LatchkeySimulation
import LatchkeyTerminal
import LatchkeyVendors

/// Checks each step of a stream's keys, from the playlist to the first decrypted samples, and continues after a failed step.
///
/// Checks bytes first. If they are wrong, it sends neither a credential nor an SPC.
struct StreamDiagnosis: Sendable {
    let profile: VendorProfile
    let credentials: CredentialSet
    /// The source of each request's credentials. Defaults to `credentials`.
    var source: Credentials?
    let hosts: HostPolicy
    /// The source of the SPC.
    let player: Player
    /// The maximum number of licenses requested; services bill them.
    var licenseLimit = 8
    /// The maximum number of segments tried.
    var sampleLimit = 100
    var timekeeper: any Timekeeper = SystemTimekeeper()
    /// Carries the requests.
    var transport: any Transport = SystemTransport()
    /// Records the events; `nil` to record nothing.
    var recorder: TraceRecorder?

    /// The maker of the SPC.
    enum Player: Sendable {
        /// The simulated device, with a test service's certificate and its ASk.
        case device(certificate: FairPlayCertificate, applicationSecret: Secret)
        /// A real device's SPC in a file, for the stream's first key or for the named one.
        case recorded(Data, key: KeyURI?)
        /// No player.
        case none
    }

    /// The vendor, perhaps without a required setting, which is one of the findings.
    var vendor: ConfiguredVendor { profile.unchecked }

    /// The checks of a stream.
    func report(on playlist: String) async -> DoctorReport {
        let watch = TrafficWatch(transport, timekeeper: timekeeper, secrets: Array(credentials.values.values))
        let configuration = LoaderConfiguration(
            retry: RetryPolicy(maximumAttempts: 1), hosts: hosts, certificateFetch: .withFirstKey)
        let loader = ContentKeyLoader(
            vendor, credentials: source ?? .fixed(credentials),
            configuration: recorder?.observing(configuration) ?? configuration, transport: watch, timekeeper: timekeeper
        )
        defer { loader.cancel() }
        let delivery = DeliveryWatch()
        let web = WebResources(
            transport: recorder?.watching(watch, timekeeper: timekeeper) ?? watch, watch: delivery)
        let stream = await stream(at: playlist, web)
        if stream.isClear { return await clearReport(on: stream, web, delivery) }
        var checks = settings + stream.checks + identifiers(of: stream.keys, loader)
        checks += tokens(for: stream.keys, loader) + recordedSPC
        checks += reached(await exchange(for: stream, after: checks, loader, watch, web), watch.notes)
        checks += deliveries(delivery, of: stream)
        checks += otherProfile(for: stream.keys, after: checks)
        let notes = watch.notes
        return DoctorReport(checks + pace(notes) + clocks(notes, after: checks), sentSecrets: notes.sentSecrets)
    }

    /// The contents of the stream's playlists.
    struct Stream {
        var checks: [Checkup] = []
        /// The distinct FairPlay keys, in order.
        var keys: [KeyURI] = []
        /// The media playlists, those of single pictures too.
        var playlists: [Playlist] = []
        /// Whether the playlists name no key at all, of whatever system.
        var isClear = false
    }

    /// The checks of a stream without keys: its media shows whether it needs none.
    private func clearReport(on stream: Stream, _ web: WebResources, _ delivery: DeliveryWatch) async -> DoctorReport {
        let media = await media(of: stream, with: [:], web)
        var checks = stream.checks.filter { $0.code != "noFairPlayKey" }
        if let encrypted = media.first(where: { $0.code == "encryptedWithoutKey" }) {
            checks.append(.noFairPlayKey("The stream names no key, and its media is encrypted. \(encrypted.reason)"))
        } else {
            let count = stream.playlists.count
            checks.append(.ok(.playlist, "No key is named in \(count.counted("media playlist"))"))
        }
        checks += media.filter { $0.code != "encryptedWithoutKey" } + deliveries(delivery, of: stream)
        return DoctorReport(checks, sentSecrets: false, isOfClearStream: true)
    }

    /// Checks the delivery of playlists and media. Without ranges only scrubbing pictures are lost if no other playlist has ranges.
    private func deliveries(_ delivery: DeliveryWatch, of stream: Stream) -> [Checkup] {
        let needsRanges = stream.playlists.contains { !$0.hasOnlyIFrames && $0.hasRanges }
        return delivery.findings.checks.map { check in
            guard check.code == "rangeIgnored", !needsRanges else { return check }
            return check.asWarning.adding(
                "Only I-frame playlists have ranges here, so that scrubbing lacks its pictures.")
        }
    }

    /// A key's URI without its secrets.
    func shown(_ key: KeyURI) -> String { String(profile.redaction.redacted(urlText: key.raw).prefix(200)) }
}

// MARK: - What leaves this machine

extension StreamDiagnosis {
    private func exchange(
        for stream: Stream, after checks: [Checkup], _ loader: ContentKeyLoader, _ watch: TrafficWatch,
        _ web: WebResources
    ) async -> [Checkup] {
        if checks.hasError(at: .settings) {
            return [.certificate, .license].map { .skipped($0, "The settings are not complete.") }
        }
        var found = await certificate(loader, watch, mayCarryCredentials: !checks.hasError(at: .token, .spc))
        guard !stream.keys.isEmpty else { return found + [.skipped(.license, "There is no key to ask for.")] }
        if let obstacle = obstacleToLicense(checks + found) { return found + [obstacle] }
        let licenses = await licenses(for: stream.keys, loader, watch)
        found += licenses.checks
        if case .device = player, licenses.keys.isEmpty { return found }
        return found + (await media(of: stream, with: licenses.keys, web))
    }

    /// Why no license is requested; `nil` if one is.
    private func obstacleToLicense(_ checks: [Checkup]) -> Checkup? {
        if checks.hasError(at: .spc) || checks.hasError("spcForOtherCertificate") {
            return .skipped(.license, "The SPC is not right, so nothing was sent.")
        }
        if checks.hasError("sampleAESCTR", "unknownMethod") {
            return .skipped(.license, "No license would open the stream, so none was asked for.")
        }
        if checks.hasError(at: .token) { return .skipped(.license, "The token is not right, so nothing was sent.") }
        if checks.hasError(at: .session) { return .skipped(.license, "It needs a session, so nothing was sent.") }
        switch player {
        case .device where checks.hasError(at: .certificate, .lookup):
            return .skipped(.license, "There is no certificate to make an SPC with.")
        case .none:
            return .error(
                .license, "licenseNotAsked", "No license was asked for: there is no SPC, and no device to make one.",
                "Give --spc FILE, one that a device made, or --credentials DIR with those of a service for tests.")
        case .device, .recorded: return nil
        }
    }
}

// MARK: - What several steps say together

extension StreamDiagnosis {
    /// The checks of the exchange after those of the network: that a host's name has an address, that it accepts connections, and TLS.
    private func reached(_ checks: [Checkup], _ notes: TrafficWatch.Notes) -> [Checkup] {
        let hosts = notes.slowestByHost.keys.sorted().prefix(Self.mostKeysShown).joined(separator: ", ")
        let reached: [Checkup] = hosts.isEmpty ? [] : [.ok(.network, "\(hosts) answered.")]
        let failed: [Checkup] = checks.compactMap { check in Self.distance(check).map { check.ofNetwork($0) } }
        return reached + failed
            + checks.map { check in
                Self.distance(check) == nil ? check : Checkup.skipped(check.step, "The host was not reached.")
            }
    }

    /// How far the request of a step got; `nil` if it got a reply.
    private static func distance(_ check: Checkup) -> String? {
        guard let code = check.code, [.certificate, .lookup, .session, .license].contains(check.step) else {
            return nil
        }
        switch Diagnosis.Kind(rawValue: code) {
        case .hostNotFound: return "Its name has no address."
        case .cannotConnect: return "Its name has an address, where nothing takes connections."
        case .tlsFailed, .serverCertificateUntrusted, .serverCertificateExpired, .serverNameMismatch, .serverWithoutTLS:
            return "It takes connections, and TLS fails."
        default: return nil
        }
    }

    /// Another vendor's profile that matches the keys, if it would explain a failure.
    func otherProfile(for keys: [KeyURI], after checks: [Checkup]) -> [Checkup] {
        let isExplained =
            checks.hasError(at: .identifier) || checks.hasError("malformed", "unsuitable")
            || checks.filter({ !$0.open.isEmpty }).hasError(
                "forbidden", "unauthenticated", "invalidRequest", "notFound", "hostRefused", "licenseMalformed",
                "hostNotFound", "invalidURL", "serverTransient", "contentIdentifierMissing", "licenseNotAsked")
        guard isExplained, !checks.hasError(at: .settings), !checks.hasError("spcForOtherCertificate"),
            let key = keys.first, let other = ProfileFit.suggestion(for: key, besides: profile)
        else { return [] }
        return [
            .error(
                .identifier, "otherProfileFits",
                "The stream's keys are not \(profile.name)'s: \(shown(key)) fits \(other.identifier). \(other.reason)",
                "Use --vendor \(other.identifier) with its own token.")
        ]
    }

    func clocks(_ notes: TrafficWatch.Notes, after checks: [Checkup]) -> [Checkup] {
        let offsets = notes.aheadByHost.sorted { $0.key < $1.key }
        guard !offsets.isEmpty else { return [.skipped(.clock, "No server said its time.")] }
        let wrong = offsets.filter { abs($0.value) > Self.clockLeeway }.map { host, ahead in
            Checkup.warning(
                .clock, "clocksDiffer",
                "\(host) is \(Self.inWords(abs(ahead))) \(ahead > 0 ? "ahead of" : "behind") this machine.",
                "Set the clock that is wrong; tokens and SPCs live for minutes.")
        }
        if wrong.isEmpty { return [.ok(.clock, "This machine and the servers agree.")] }
        let isCause = checks.filter { $0.open.contains(.token) }.hasError(
            "unauthenticated", "forbidden", "expired", "notYetValid")
        return isCause ? wrong.map(\.asError) : wrong
    }

    /// Bounded, because a server may say any date.
    private static func inWords(_ seconds: Double) -> String {
        seconds < 10_000 ? "\(Int(seconds.rounded())) s" : "\(Int(min(seconds, 1e11) / 3_600)) h"
    }

    private func pace(_ notes: TrafficWatch.Notes) -> [Checkup] {
        notes.slowestByHost.filter { $0.value > Self.patience }.sorted { $0.key < $1.key }.map { host, time in
            .warning(
                .license, "slowReply",
                "\(host) took \((time.inSeconds * 10).rounded() / 10) s to answer.",
                "Have the service answer sooner: players and viewers give up after a few seconds.")
        }
    }

    /// The tolerated difference of clocks, in seconds: a reply's date has no fraction, and tokens are made with some leeway.
    private static let clockLeeway = 60.0
    /// The longest time for a reply before it is reported.
    private static let patience = Duration.seconds(3)
}
