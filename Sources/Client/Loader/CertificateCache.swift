import LatchkeyCore
import LatchkeyVendors

/// The application certificate, fetched once for all who wait and kept for its lifetime.
final class CertificateCache: Sendable {
    typealias Report = @Sendable (KeyEvent.Kind) -> Void
    private typealias Shared = SharedFetch<ApplicationCertificate>

    private struct Fetch {
        let shared: Shared
        let task: Task<Void, Never>
        let started: Duration
    }

    private struct State {
        var current: Fetch?
        var isClosed = false
    }

    private let caller: ServiceCaller
    private let lookups: Lookups
    private let state = Locked(State())

    init(_ caller: ServiceCaller, _ lookups: Lookups) {
        self.caller = caller
        self.lookups = lookups
    }

    deinit { close() }

    /// Starts the fetch, so that the first key finds the certificate there.
    func prefetch(_ report: @escaping Report) { _ = fetch(report) }

    /// The certificate, or why there is none.
    func certificate(_ report: @escaping Report) async throws(ContentKeyError) -> ApplicationCertificate {
        do {
            let shared = fetch(report)
            if shared.hasEnded { report(.certificateFromCache) }
            return try await shared.value()
        } catch {
            throw ContentKeyError(error, stage: .certificate, otherwise: .integrationFailed)
        }
    }

    /// Ends the fetch under way, and lets none begin.
    func close() {
        let current = state.withLock { state in
            state.isClosed = true
            defer { state.current = nil }
            return state.current
        }
        current?.shared.end(.failure(ContentKeyError.cancelled))
        current?.task.cancel()
    }

    /// The fetch that holds, or a new one. Its task belongs to the cache, not to who asks, so that a cancelled key takes
    /// nobody's certificate.
    private func fetch(_ report: @escaping Report) -> Shared {
        let now = caller.timekeeper.uptime
        return state.withLock { state in
            if let current = state.current, now - current.started < caller.configuration.certificateLifetime {
                return current.shared
            }
            let shared = Shared()
            guard !state.isClosed else {
                shared.end(.failure(ContentKeyError.cancelled))
                return shared
            }
            let task = Task { [caller, lookups, weak self] in
                let result = await Result { try await Self.fetch(caller, lookups, report) }
                if case .failure = result { self?.forget(shared) }
                shared.end(result)
            }
            state.current = Fetch(shared: shared, task: task, started: now)
            return shared
        }
    }

    /// A failed fetch is not kept: the next key tries anew.
    private func forget(_ shared: Shared) {
        state.withLock { if $0.current?.shared === shared { $0.current = nil } }
    }

    private static func fetch(
        _ caller: ServiceCaller, _ lookups: Lookups, _ report: @escaping Report
    ) async throws -> ApplicationCertificate {
        let integration = caller.integration
        if let bundled = try integration.bundledCertificate() { return bundled }
        let values = try await lookups.values(for: nil, report)
        return try await caller.perform(
            .init(
                stage: .certificate, reason: .certificate, alsoSecret: Array(values.values), trusted: values.urls,
                report: report,
                makeRequest: { issued in
                    let context = CertificateContext(lookup: values) { try await issued.credentials() }
                    guard let request = try await integration.certificateRequest(context) else {
                        throw ContentKeyError(
                            .certificateMissing, "The integration gives no application certificate.",
                            remedy: "Give a certificate URL, or bundle the certificate.")
                    }
                    return request
                },
                read: { try integration.certificate(from: $0) }))
    }
}
