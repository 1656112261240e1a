import Foundation
import Latchkey
import LatchkeyCore
import LatchkeyDevice
import LatchkeyServices
import LatchkeySimulation
import LatchkeyVendors
import Testing

/// One key, asked for while a service misbehaves.
struct FaultRun {
    let result: Result<DeviceKey, any Error>
    let events: [KeyEvent]
    let certificateRequests: Int
    let licenseRequests: Int
    /// What the loader's clock says has passed.
    let elapsed: Duration
    /// What must show nowhere, and all that shows.
    let secrets: [Data]
    let shown: String

    /// - Parameters:
    ///   - place: profile and endpoint.
    ///   - fault: how it misbehaves; nil behaves.
    ///   - span: for how many requests.
    ///   - policy: the loader's.
    ///   - expiring: the loader's timer that goes off while the service delays its answer.
    init(
        _ place: FaultPlace, _ fault: Fault?, for span: FaultSwitch.Span = .always,
        policy: RetryPolicy = FaultCase.policy, expiring timer: Duration = FaultCase.policy.attemptTimeout
    ) async throws {
        let profile = try #require(VendorProfile.named(place.profile))
        let time = StagedTime(timers: [policy.attemptTimeout, policy.deadline])
        self = try await LiveServices.with(time: ServiceTime { time.expire(timer) }) { live in
            let service = live.service(for: profile)
            if let fault { service.faults.set(fault, at: place.endpoint, for: span) }
            let (key, stream) = try await Self.key(live, profile, policy, time)
            // The stream ends because the loader is gone.
            let events = await stream.reduce(into: []) { $0.append($1) }
            return FaultRun(
                result: key.outcome, events: events,
                certificateRequests: service.requests(at: .certificate).count,
                licenseRequests: service.requests(at: .license).count, elapsed: time.uptime, secrets: service.secrets,
                shown: Self.text(of: [key.outcome, events, live.host.journal, live.log.text, service.warnings]))
        }
    }

    private init(
        result: Result<DeviceKey, any Error>, events: [KeyEvent], certificateRequests: Int, licenseRequests: Int,
        elapsed: Duration, secrets: [Data], shown: String
    ) {
        self.result = result
        self.events = events
        self.certificateRequests = certificateRequests
        self.licenseRequests = licenseRequests
        self.elapsed = elapsed
        self.secrets = secrets
        self.shown = shown
    }

    private static func key(
        _ live: LiveServices, _ profile: VendorProfile, _ policy: RetryPolicy, _ time: StagedTime
    ) async throws -> (StreamReport.Key, AsyncStream<KeyEvent>) {
        var configuration = LoaderConfiguration.loopback
        configuration.retry = policy
        let loader = live.loader(profile, configuration: configuration, timekeeper: time)
        let events = loader.events()
        let report = try await live.player(loader, timekeeper: time).keys(
            of: live.playlist(.transportStream, for: profile))
        return (try #require(report.keys.first), events)
    }

    /// Values as a log, a debugger and a crash report would show them.
    private static func text(of values: [Any]) -> String {
        values.map { value in
            var text = "\(value)\n\(String(reflecting: value))\n"
            dump(value, to: &text)
            return text
        }.joined(separator: "\n")
    }
}

extension FaultRun {
    /// The error; nil where the key came.
    var error: (any Error)? {
        guard case .failure(let error) = result else { return nil }
        return error
    }

    /// How many answers the key request got.
    var answers: Int {
        events.count { event in
            switch event.kind {
            case .answered, .failed: true
            default: false
            }
        }
    }

    func requests(at endpoint: ServiceEndpoint) -> Int {
        endpoint == .certificate ? certificateRequests : licenseRequests
    }
}
