import Foundation
@_spi(Adapters) import Latchkey
import LatchkeyCore
import LatchkeyDevice
import LatchkeyServices
import LatchkeyVendors
import Testing

/// The vendor, the request, and the fault of the service.
struct Circumstances: Sendable {
    /// The profile's identifier.
    let profile: String
    /// Settings that replace the service's; `nil` removes one.
    var settings: [String: String?] = [:]
    /// A service that replaces the usual one.
    var special: SpecialService?
    /// The fault; `nil` for none.
    var fault: Fault?
    /// The endpoint with the fault.
    var endpoint = ServiceEndpoint.license
    /// The number of requests with the fault.
    var span = FaultSwitch.Span.always
    /// The retry policy of the loader.
    var policy = FaultCase.policy
    /// The waits between three attempts.
    var waits = FaultCase.waits
    /// The timer of the loader that fires while the service delays its answer.
    var timer = FaultCase.policy.attemptTimeout
}

/// A request for one key while a service misbehaves or refuses. It does not wait in real time and decodes nothing.
struct FaultRun {
    let result: Result<DeviceKey, any Error>
    let events: [KeyEvent]
    /// The number of answers to the player.
    let answers: Int
    let requests: [ServiceEndpoint: Int]
    /// The time that has passed on the loader's clock.
    let elapsed: Duration
    /// The secrets, and everything that becomes visible.
    let secrets: [Data]
    let shown: String

    init(_ circumstances: Circumstances) async throws {
        let profile = try #require(VendorProfile.named(circumstances.profile))
        let policy = circumstances.policy
        let time = StagedTime(timers: [policy.attemptTimeout, policy.deadline])
        // Work on the key has the deadline, an attempt its own time limit.
        let isDeadline = circumstances.timer == policy.deadline
        let serviceTime = ServiceTime {
            if isDeadline { time.pass(policy.deadline) } else { time.expire(circumstances.timer) }
        }
        self = try await LiveServices.with(time: serviceTime, special: circumstances.special) { live in
            let service = live.service(for: profile)
            if let fault = circumstances.fault {
                service.faults.set(fault, at: circumstances.endpoint, for: circumstances.span)
            }
            let request = try live.request(for: profile)
            let (result, stream, elapsed) = await Self.key(request, live, profile, circumstances, time)
            // The stream of events ends because the loader is released, and with it the session if there is one.
            let events = await stream.reduce(into: []) { $0.append($1) }
            return FaultRun(
                result: result, events: events, answers: request.answerCount, requests: service.requestCounts,
                elapsed: elapsed, secrets: service.secrets + request.secrets,
                shown: Self.text(of: [result, events, live.host.journal, live.log.text, service.warnings]))
        }
    }

    private init(
        result: Result<DeviceKey, any Error>, events: [KeyEvent], answers: Int, requests: [ServiceEndpoint: Int],
        elapsed: Duration, secrets: [Data], shown: String
    ) {
        self.result = result
        self.events = events
        self.answers = answers
        self.requests = requests
        self.elapsed = elapsed
        self.secrets = secrets
        self.shown = shown
    }

    private static func key(
        _ request: DeviceRequest, _ live: LiveServices, _ profile: VendorProfile, _ circumstances: Circumstances,
        _ time: StagedTime
    ) async -> (Result<DeviceKey, any Error>, AsyncStream<KeyEvent>, Duration) {
        var configuration = LoaderConfiguration.loopback
        configuration.retry = circumstances.policy
        let loader = live.loader(
            profile, settings: circumstances.settings, configuration: configuration, timekeeper: time)
        let events = loader.events()
        loader.answer(request)
        return (await request.outcome, events, time.uptime)
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
    /// The error; `nil` if the key arrived.
    var error: (any Error)? {
        guard case .failure(let error) = result else { return nil }
        return error
    }

    /// The number of ended key requests, according to the events.
    var endings: Int {
        events.count { event in
            switch event.kind {
            case .answered, .failed: true
            default: false
            }
        }
    }

    /// The number of requests to the service until the key was answered. The service numbers its replies.
    var requestCount: Int {
        requests.filter { ![.sessionHeartbeat, .sessionTeardown].contains($0.key) }.values.reduce(0, +)
    }

    /// The visible forms of secrets.
    var leaks: [String] {
        let searched = SearchedText(shown)
        return secrets.flatMap { SecretForms($0).found(in: searched) }
    }
}
