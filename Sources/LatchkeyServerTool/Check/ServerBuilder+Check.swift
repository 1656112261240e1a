import Foundation
import Latchkey
import LatchkeyCore
import LatchkeyServer

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// What a check asks addresses that a server asks while it runs.
extension ServerBuilder {
    /// How long an operator's own service may take to answer a check.
    private static let calloutLimit = Duration.seconds(5)

    /// Fetches the key set of a tenant that has one at an address. A server starts without it, and takes no token until it is there.
    func lookAtKeySet(
        _ tokens: TenantSettings.Tokens, of tenant: String, _ problems: inout ServerProblems, _ notices: inout [String]
    ) async {
        guard let keys = tokens.keys, keys.hasPrefix("https://"), let url = URL(string: keys) else { return }
        let (source, place) = (fetched(url, tokens, of: tenant), "tenants.\(tenant).tokens.keys")
        // Why it failed is in its standing.
        try? await source.reload()
        let standing = source.standing
        if let failure = standing.failure { problems.add(.init(place, failure)) }
        notices += standing.refused.prefix(8).map { "\(place): \($0.reason) \($0.remedy)" }
    }

    /// Connects to the operator's own service as a server would, by TLS with the same trust, and asks for its options: no viewer's question.
    func lookAtCallout(_ stated: TenantSettings.Callout?, of tenant: String, _ problems: inout ServerProblems) async {
        // What is wrong with the address itself is told where the callout is built.
        guard let url = stated.flatMap({ URL(string: $0.url) }), url.host() != nil,
            ["http", "https"].contains(url.scheme)
        else { return }
        var request = URLRequest(url: url)
        request.httpMethod = "OPTIONS"
        let question = request
        do {
            _ = try await withDeadline(
                Self.calloutLimit, SystemTimekeeper(), expired: { Diagnosis.calloutSilent }
            ) { try await SystemTransport().send(question, bodyLimit: 64 << 10).status }
        } catch {
            let place = "tenants.\(tenant).callout.url"
            // Its words are its own: host and cause, and nothing of an address that may have a token.
            let reason = (error as? any DiagnosableError)?.reason ?? "It failed with \(type(of: error))."
            problems.add(
                .init(
                    place, "The callout cannot be reached. \(reason)",
                    "See that the service answers on this machine; name a private authority in SSL_CERT_FILE."))
        }
    }
}

extension Diagnosis {
    fileprivate static let calloutSilent = Diagnosis(
        code: "calloutUnanswered", reason: "It took longer than 5 s.", remedy: "See that the service answers.")
}
