import LatchkeyCore
import LatchkeyVendors

/// The application certificate, fetched once for all who wait and kept for its lifetime.
final class CertificateCache: Sendable {
    typealias Report = @Sendable (KeyEvent.Kind) -> Void

    private typealias Fetched = (certificate: ApplicationCertificate, took: Duration)

    private let caller: ServiceCaller
    private let lookups: Lookups
    private let kept: KeptFetch<Fetched>

    init(_ caller: ServiceCaller, _ lookups: Lookups) {
        self.caller = caller
        self.lookups = lookups
        kept = KeptFetch(caller.timekeeper, lifetime: caller.configuration.certificateLifetime)
    }

    /// Starts the fetch, so that the first key finds the certificate there.
    func prefetch(_ report: @escaping Report) { _ = fetch(report) }

    /// The certificate, or why there is none.
    func certificate(_ report: @escaping Report) async throws(ContentKeyError) -> ApplicationCertificate {
        do {
            let shared = fetch(report)
            let isAtHand = shared.hasEnded
            let fetched = try await shared.value()
            if isAtHand { report(.certificateFromCache(saved: fetched.took)) }
            return fetched.certificate
        } catch {
            throw ContentKeyError(error, stage: .certificate, otherwise: .integrationFailed)
        }
    }

    /// Ends the fetch under way, and lets none begin.
    func close() { kept.close() }

    private func fetch(_ report: @escaping Report) -> SharedFetch<Fetched> {
        kept.shared { [caller, lookups] in
            let start = caller.timekeeper.uptime
            let certificate = try await Self.fetch(caller, lookups, report)
            return (certificate, caller.timekeeper.uptime - start)
        }
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
