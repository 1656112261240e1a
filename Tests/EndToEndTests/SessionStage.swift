import Foundation
@_spi(Adapters) import Latchkey
import LatchkeyCore
import LatchkeyDevice
import LatchkeyHTTP
import LatchkeyServices
import LatchkeyTesting
import LatchkeyVendors
import Testing

/// A player's source with NAGRA's service, on a clock that the test advances.
struct SessionStage {
    /// The heartbeat interval of the service. It differs from every timeout and deadline of the loader.
    static let heartbeat = Duration.seconds(45)

    let clock: ManualTimekeeper
    let live: LiveServices
    let service: RecordingService
    let nagra: NAGRAService
    let loader: ContentKeyLoader
    /// How often the player was asked to renew a key.
    let renewals = AsyncStream.makeStream(of: Void.self)
    /// The errors of ended keys.
    let ends = AsyncStream.makeStream(of: ContentKeyError.self)
    private let seen = Locked<(events: [KeyEvent], requests: [DeviceRequest])>(([], []))

    /// Runs a closure with a service and an unused loader.
    static func with(
        _ change: @escaping @Sendable (inout NAGRAService) -> Void = { _ in },
        _ body: (SessionStage) async throws -> Void
    ) async throws {
        let special = SpecialService(NAGRAService.init) {
            $0.heartbeat = heartbeat
            change(&$0)
        }
        let clock = ManualTimekeeper()
        var configuration = LoaderConfiguration.loopback
        configuration.retry.jitter = 0
        try await LiveServices.with(time: clock, special: special) { live in
            let service = live.service(for: .nagra)
            let stage = SessionStage(
                clock: clock, live: live, service: service, nagra: try #require(service.base as? NAGRAService),
                loader: live.loader(.nagra, configuration: configuration, timekeeper: clock))
            let watch = Task { [events = stage.loader.events(), seen = stage.seen] in
                for await event in events { seen.withLock { $0.events.append(event) } }
            }
            defer { watch.cancel() }
            try await body(stage)
        }
    }

    private init(
        clock: ManualTimekeeper, live: LiveServices, service: RecordingService, nagra: NAGRAService,
        loader: ContentKeyLoader
    ) {
        self.clock = clock
        self.live = live
        self.service = service
        self.nagra = nagra
        self.loader = loader
    }

    /// Requests a key and waits for the answer.
    func key(_ purpose: KeyPurpose = .streaming) async throws -> Result<DeviceKey, any Error> {
        let request = try live.request(
            for: .nagra, purpose: purpose, onRenewal: { [renewals] in renewals.continuation.yield() },
            onEnd: { [ends] in ends.continuation.yield($0) })
        seen.withLock { $0.requests.append(request) }
        loader.answer(request)
        return await request.outcome
    }

    /// Waits until the next heartbeat is scheduled, and advances the clock to it.
    func passHeartbeat() async {
        await clock.untilSomeoneSleeps(for: Self.heartbeat)
        clock.advance(by: Self.heartbeat)
    }

    /// Waits for a state of the session.
    func until(_ state: SessionState) async {
        let events = loader.events()
        guard await loader.sessionState(of: .only) != state else { return }
        for await event in events { if case .session(state) = event.kind { return } }
    }

    /// Ends the source, and waits until the session has ended.
    func end() async { await Self.end(loader) }

    /// Ends a loader that has a session, and waits until the session has ended.
    static func end(_ loader: ContentKeyLoader) async {
        let events = loader.events()
        loader.cancel()
        for await event in events { if case .session(.off) = event.kind { return } }
    }

    /// Why sessions failed.
    var sessionErrors: [ContentKeyError] {
        seen.withLock { $0.events }.compactMap { if case .sessionFailed(let error) = $0.kind { error } else { nil } }
    }

    /// The requests to the service, without those for the certificate.
    var steps: [String] { service.endpoints.filter { $0 != .certificate }.map(\.rawValue) }

    func count(_ endpoint: ServiceEndpoint) -> Int { service.requests(at: endpoint).count }

    /// The tokens of the requests to an endpoint, separated by commas.
    func tokens(at endpoint: ServiceEndpoint) -> [String] {
        service.requests(at: endpoint).map { $0.headers["nv-authorizations"] ?? "" }
    }

    /// The forms of secrets that are visible in events and logs.
    var leaks: [String] {
        let (events, requests) = seen.withLock { $0 }
        var text = "\(events)\n\(live.host.journal)\n\(live.log.text)\n\(service.warnings)\n"
        dump(events, to: &text)
        let searched = SearchedText(text)
        return (service.secrets + requests.flatMap(\.secrets)).flatMap { SecretForms($0).found(in: searched) }
    }
}
