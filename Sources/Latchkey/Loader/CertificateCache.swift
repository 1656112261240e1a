import LatchkeyCore
@_spi(Integrations) import LatchkeyVendors

/// The application certificate: fetched once for all callers, and kept for its lifetime.
final class CertificateCache: Sendable {
    private typealias Fetched = (certificate: ApplicationCertificate, took: Duration)

    private let caller: ServiceCaller
    private let prerequisites: Prerequisites
    private let shared: SharedFetch<Fetched>

    init(_ caller: ServiceCaller, _ prerequisites: Prerequisites) {
        self.caller = caller
        self.prerequisites = prerequisites
        shared = SharedFetch(caller.timekeeper, lifetime: caller.configuration.certificateLifetime)
    }

    /// Starts the fetch, so that the first key need not wait for it.
    func prefetch(_ trace: Trace) { _ = fetch(trace) }

    /// The certificate, or its error.
    func certificate(_ trace: Trace) async throws(ContentKeyError) -> ApplicationCertificate {
        do {
            let fetch = fetch(trace)
            let isCached = fetch.outcome != nil
            let fetched = try await fetch.value
            if isCached { trace.send(.certificateFromCache(saved: fetched.took)) }
            return fetched.certificate
        } catch {
            throw ContentKeyError(error, stage: .certificate, otherwise: .integrationFailed)
        }
    }

    /// Cancels the current fetch; later ones fail with `cancelled`.
    func close() { shared.close() }

    private func fetch(_ trace: Trace) -> Promise<Fetched, any Error> {
        shared.current { [caller, prerequisites] in
            let start = caller.timekeeper.uptime
            let certificate = try await Self.fetch(caller, prerequisites, trace)
            if let format = certificate.unrecognizedFormat { trace.send(.certificateUnrecognized(format: format)) }
            return (certificate, caller.timekeeper.uptime - start)
        }
    }

    private static func fetch(
        _ caller: ServiceCaller, _ prerequisites: Prerequisites, _ trace: Trace
    ) async throws -> ApplicationCertificate {
        let integration = caller.integration
        if let bundled = try integration.checkedBundledCertificate() { return bundled }
        let values = try await prerequisites.values(for: .certificate, trace)
        return try await caller.perform(
            .init(
                asking: .certificate, alsoSecret: Array(values.values), trusted: values.urls, trace: trace,
                makeRequest: { issued in
                    let context = CertificateContext(lookup: values) { try await issued.credentials() }
                    guard let request = try await integration.certificateRequest(context) else {
                        throw ContentKeyError(
                            .certificateMissing, "The integration gives no application certificate.",
                            remedy: "Set a certificate URL, or bundle the certificate.")
                    }
                    return request
                },
                read: { try integration.checkedCertificate(in: $0) }))
    }
}
