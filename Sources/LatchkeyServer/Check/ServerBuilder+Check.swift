import Foundation
import LatchkeyCore
import LatchkeyLicensing
import LatchkeyTransport

#if canImport(FoundationNetworking)
    import FoundationNetworking
    import LatchkeyDecision
#endif

/// A check's requests to addresses that a server asks while it runs.
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

    /// Asks the provider at which operators sign in for its document, its keys, and a token for a wrong code. A server starts without it, and
    /// lets operators in by keys.
    func lookAtProvider(_ problems: inout ServerProblems) async {
        // The reason that it cannot be asked is reported where the configuration's provider is made.
        var untold = ServerProblems()
        let provider = await untold.reading("operators.openID", on: file.threads) { self.openID(&$0) } ?? nil
        do throws(SignOnRefusal) {
            try await provider?.answers()
            try await provider?.declines()
        } catch {
            problems.add(
                .init(
                    "operators.openID", error.reason,
                    "Check that the provider responds to this machine; correct issuer, clientID and clientSecretFile, and authorities if it uses a private certificate authority."
                ))
        }
    }

    /// Connects to the operator's own service as a server would, by TLS with the same trust, and asks for its options: no viewer's question.
    ///
    /// Services need not know the question, so most answers are good. They still show that a gateway fronts a service that is away, that
    /// the service is elsewhere, and perhaps that nothing is there.
    func lookAtCallout(
        _ stated: TenantSettings.Callout?, of tenant: String, _ problems: inout ServerProblems,
        _ notices: inout [String]
    ) async {
        // An invalid address is reported where the callout is built.
        guard let url = stated.flatMap({ URL(string: $0.url) }), url.host() != nil,
            ["http", "https"].contains(url.scheme)
        else { return }
        let place = "tenants.\(tenant).callout.url"
        var request = URLRequest(url: url)
        request.httpMethod = "OPTIONS"
        let question = request
        do {
            let status = try await withDeadline(
                Self.calloutLimit, SystemTimekeeper(), expired: { Diagnosis.calloutSilent }
            ) { try await SystemTransport().send(question, bodyLimit: 64 << 10).status }
            switch CalloutSign(status) {
            case .answers: break
            case .away(let reason, let remedy): problems.add(.init(place, reason, remedy))
            case .doubtful(let words): notices.append("\(place): \(words)")
            }
        } catch {
            // Its words are its own: host and cause, and nothing of an address that may have a token.
            let reason = (error as? any DiagnosableError)?.reason ?? "It failed with \(type(of: error))."
            problems.add(
                .init(
                    place, "The callout cannot be reached. \(reason)",
                    "Check that the service responds to this machine; name a private certificate authority in SSL_CERT_FILE."
                ))
        }
    }
}

/// The meaning of an `OPTIONS` answer's status for the operator's own service.
///
/// Source: `Documentation/Server/Operations.md` §2.
enum CalloutSign: Equatable {
    /// The service answers, and need not know the question.
    case answers
    /// No license would have an answer; a sentence and a remedy.
    case away(String, String)
    /// Perhaps not; a sentence and a remedy.
    case doubtful(String)

    init(_ status: Int) {
        switch status {
        case 300...399:
            self = .away(
                "The callout responds with \(status), a redirect, which licenses do not follow.",
                "Use the address that it redirects to.")
        case 502...504:
            self = .away(
                "The callout responds with \(status): the gateway in front of the service does not reach it.",
                "Check the gateway's log, and that the service is running.")
        case 404, 410:
            self = .doubtful(
                "The callout responds with \(status) to OPTIONS. If POST gets the same, every viewer is refused: check the path."
            )
        case 500, 505...599:
            self = .doubtful("The callout responds with \(status) to OPTIONS. Check that POST does not get the same.")
        default: self = .answers
        }
    }
}

extension Diagnosis {
    fileprivate static let calloutSilent = Diagnosis(
        code: "calloutUnanswered", reason: "It took longer than 5 s.", remedy: "Check that the service responds.")
}
