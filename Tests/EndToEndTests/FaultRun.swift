import Foundation
import Latchkey
import LatchkeyCore
import LatchkeyDevice
import LatchkeyServices
import LatchkeyVendors
import Testing

/// What is asked of which vendor, and how the service fares.
struct Circumstances: Sendable {
    /// The profile's identifier.
    let profile: String
    /// Settings in place of those that the service names.
    var settings: [String: String] = [:]
    /// The service in place of the usual one.
    var special: SpecialService?
    /// How it misbehaves; nil behaves.
    var fault: Fault?
    /// Where.
    var endpoint = ServiceEndpoint.license
    /// For how many requests.
    var span = FaultSwitch.Span.always
    /// The loader's.
    var policy = FaultCase.policy
    /// How long the waits between three attempts are.
    var waits = FaultCase.waits
    /// The loader's timer that goes off while the service delays its answer.
    var timer = FaultCase.policy.attemptTimeout
}

/// One key, asked for while a service misbehaves or refuses. Nobody waits, and nothing is decoded.
struct FaultRun {
    let result: Result<DeviceKey, any Error>
    let events: [KeyEvent]
    /// How often the player was answered.
    let answers: Int
    let requests: [ServiceEndpoint: Int]
    /// What the loader's clock says has passed.
    let elapsed: Duration
    /// What must show nowhere, and all that shows.
    let secrets: [Data]
    let shown: String

    init(_ circumstances: Circumstances) async throws {
        let profile = try #require(VendorProfile.named(circumstances.profile))
        let policy = circumstances.policy
        let time = StagedTime(timers: [policy.attemptTimeout, policy.deadline])
        let serviceTime = ServiceTime { time.expire(circumstances.timer) }
        self = try await LiveServices.with(time: serviceTime, special: circumstances.special) { live in
            let service = live.service(for: profile)
            if let fault = circumstances.fault {
                service.faults.set(fault, at: circumstances.endpoint, for: circumstances.span)
            }
            let request = try live.request(for: profile)
            let (result, stream, elapsed) = await Self.key(request, live, profile, circumstances, time)
            // The stream ends because the loader is gone, and with it the session if there was one.
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
    /// The error; nil where the key came.
    var error: (any Error)? {
        guard case .failure(let error) = result else { return nil }
        return error
    }

    /// How many key requests ended, as the events tell it.
    var endings: Int {
        events.count { event in
            switch event.kind {
            case .answered, .failed: true
            default: false
            }
        }
    }

    /// How many requests the service had got when the key was answered; it numbers its replies.
    var requestCount: Int {
        requests.filter { ![.sessionHeartbeat, .sessionTeardown].contains($0.key) }.values.reduce(0, +)
    }

    /// The forms of secrets that show.
    var leaks: [String] {
        let searched = SearchedText(shown)
        return secrets.flatMap { SecretForms($0).found(in: searched) }
    }
}
