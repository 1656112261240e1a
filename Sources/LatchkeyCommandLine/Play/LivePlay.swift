import Foundation
import Latchkey
import LatchkeyCore
import LatchkeyFairPlay
import LatchkeyHTTP
import LatchkeyServices
import LatchkeySimulation
import LatchkeyTerminal
import LatchkeyTesting
import LatchkeyVendors

/// Plays a live stream on virtual time: its services run in this process, hours take seconds, and leases, renewals and changes of keys all
/// happen as on a device.
struct LivePlay: Sendable {
    let profile: VendorProfile
    /// The profile with the settings of a service.
    let completed: @Sendable ([String: String]) throws -> ConfiguredVendor
    /// How long the stream plays.
    let duration: Duration
    /// The life of a license.
    let lease: Duration
    /// The time until the key changes.
    var rotation = Duration.seconds(3_600)
    /// Records the events; `nil` to record nothing.
    var recorder: TraceRecorder?

    /// - Throws: `UsageError` if the profile has no service, or if this system has no virtual time.
    func report() async throws -> LiveSummary {
        guard #available(macOS 15, *) else {
            throw UsageError("--virtual needs macOS 15 or later, or Linux.")
        }
        let time = VirtualTime()
        return try await time.run { try await play(time) }
    }

    @available(macOS 15, *)
    private func play(_ time: VirtualTime) async throws -> LiveSummary {
        let periods = Int((duration / rotation).rounded(.up)) + 2
        // A vendor whose requests name no key has one key for all.
        let isFixed = if case .fixed = profile.contentIdentifierRule { true } else { false }
        let keys = RotatingKeys(tracks: isFixed ? ["video"] : ["audio", "video"])
        let credentials = try TestCredentials.make(bits: 1024)
        let authority = LicenseAuthority(
            module: KeyServerModule(credentials: [credentials.credential], derivation: InsecureTestDerivation()),
            keys: keys.store(periods: isFixed ? 1 : periods),
            policy: LicensePolicy(standard: LicenseTerms(.lease(lease))),
            pool: WorkerPool(threads: 2))
        let services = VendorServices.all(authority: authority, time: time)
        guard let service = services.serving(profile.identifier) else { throw PlaySetting.noService(profile) }
        let transport = ServiceTransport(services, timekeeper: time, hold: { time.hold() })
        let loader = try loader(service, transport, time)
        defer { loader.cancel() }
        let stream = LiveStream(tracks: keys.tracks, rotation: isFixed ? nil : rotation) { track, period in
            let key = keys.key(track, period: period)
            return LiveStream.Key(uri: KeyURI(service.keyURI(for: key, at: transport.host)), content: key.content)
        }
        var player = LivePlayer(
            stream, loader: loader, applicationSecret: credentials.applicationSecret, timekeeper: time)
        player.lookahead = 5
        let report = await player.play(for: duration)
        return LiveSummary(report, self, requests: transport.journal.count)
    }

    private func loader(
        _ service: any VendorService, _ transport: ServiceTransport, _ time: any Timekeeper
    ) throws -> ContentKeyLoader {
        // A service that sends no lease with the CKC leaves it to the app.
        var configuration = LoaderConfiguration(leases: LeasePolicy(assumedLease: lease))
        configuration.hosts.allowed = [HostPolicy.Host(transport.host)]
        configuration = recorder?.observing(configuration) ?? configuration
        return ContentKeyLoader(
            try completed(service.parameters(at: transport.address(of: service), for: profile.identifier)),
            credentials: Credentials { _ in CredentialSet(["token": service.demoToken()]) },
            configuration: configuration, transport: transport, timekeeper: time)
    }
}

/// What `latchkey play --virtual` prints.
struct LiveSummary: Encodable {
    let vendor: String
    /// Whether every segment could be decrypted when it was due.
    let right: Bool
    let seconds, leaseSeconds: Double
    /// Due segments, counted per track; different keys; licenses, including renewals.
    let segments, keys, licenses, renewals, requests: Int
    /// The age of keys when their renewal was requested, in seconds; `nil` without renewals.
    let earliestRenewal, latestRenewal: Double?
    let gaps: [Gap]
    /// The first key request that failed.
    let error: Failure?

    /// Consecutive segments that could not be decrypted.
    struct Gap: Encodable {
        let key: String
        let startSeconds, seconds: Double
    }

    init(_ report: LivePlayer.Report, _ play: LivePlay, requests: Int) {
        vendor = play.profile.identifier
        right = report.gaps.isEmpty && report.ends.isEmpty && report.segments > 0
        (seconds, leaseSeconds) = (play.duration.inSeconds, play.lease.inSeconds)
        (segments, self.requests) = (report.segments, requests)
        keys = Set(report.licenses.map(\.key)).count
        licenses = report.licenses.count
        renewals = report.licenses.count { $0.purpose == .renewal }
        let ages = report.renewals.map(\.age.inSeconds)
        (earliestRenewal, latestRenewal) = (ages.min(), ages.max())
        gaps = report.gaps.map {
            Gap(
                key: Redaction.standard.redacted(urlText: $0.key.raw), startSeconds: $0.start.inSeconds,
                seconds: $0.duration.inSeconds)
        }
        let errors = report.failures.map(\.error) + report.ends.map { $0.error as any Error }
        error = errors.first.map(Failure.init)
    }

    /// For people.
    var text: String {
        var lines = [
            "\(Duration.seconds(seconds).shown) of a live stream, leases of \(Duration.seconds(leaseSeconds).shown), on virtual time",
            "\(segments) segments, \(right ? "every one could be decrypted" : "some could not be decrypted")",
            "\(keys) keys, \(licenses) licenses, \(renewals) of them renewals, in \(requests) requests",
        ]
        if let earliestRenewal, let latestRenewal {
            let (first, last) = (Duration.seconds(earliestRenewal).shown, Duration.seconds(latestRenewal).shown)
            lines.append("renewed when a license was \(first) to \(last) old")
        }
        lines += gaps.prefix(10).map {
            "GAP of \(Duration.seconds($0.seconds).shown) at \(Duration.seconds($0.startSeconds).shown)  \($0.key)"
        }
        if let error { lines.append("First error: \(error.text)") }
        return lines.joined(separator: "\n")
    }
}
