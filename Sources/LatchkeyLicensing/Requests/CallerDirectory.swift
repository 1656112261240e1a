import Foundation
import LatchkeyCore
package import LatchkeyHTTP

/// The callers of packagers' routes, found by their credentials.
///
/// Source: `Documentation/LicenseServer.md` §9.5.
package struct CallerDirectory: Sendable {
    /// A caller and one way in which it proves itself. A caller may have several, so that a key can be changed without a gap.
    package struct Entry: Sendable {
        package let credential: CallerCredential
        package let caller: Caller

        package init(_ credential: CallerCredential, _ caller: Caller) {
            self.credential = credential
            self.caller = caller
        }
    }

    private let entries: [Entry]
    private let proxies: TrustedProxies
    /// The challenge of a reply with 401: the accepted schemes.
    private let challenge: String

    /// - Parameters:
    ///   - entries: the callers. At most some thousands: each request is compared with all.
    ///   - proxies: who may state a client's certificate.
    package init(_ entries: [Entry], proxies: TrustedProxies = TrustedProxies()) {
        self.entries = entries
        self.proxies = proxies
        // A reply with 401 has to name a scheme, also where callers have certificates only.
        let takesBasic = entries.contains { $0.credential.kind == .basic }
        let takesBearer = !takesBasic || entries.contains { $0.credential.kind == .bearer }
        challenge = [takesBasic ? "Basic realm=\"latchkey\"" : nil, takesBearer ? "Bearer" : nil]
            .compactMap { $0 }.joined(separator: ", ")
    }

    /// The caller of a request, if it has a right.
    ///
    /// Callers of several tenants may share one key: the tenant whose route is called determines the caller.
    ///
    /// Takes the same time for every secret of a kind. A signature of AWS in `Authorization` is ignored.
    /// - Parameters:
    ///   - request: the request.
    ///   - right: the right that the request needs.
    ///   - tenant: the tenant whose route is called.
    /// - Throws: `CallerRefusal`.
    package func caller(
        of request: HTTPRequest, with right: CallerRight, for tenant: String
    ) throws(CallerRefusal) -> Caller {
        let credentials = credentials(of: request)
        guard !credentials.isEmpty else { throw CallerRefusal(.missing, challenge) }
        // Compares all entries, so that the time does not reveal which one matched.
        let found = credentials.map { sent in entries.filter { $0.credential.matches(sent) }.map(\.caller) }
        guard found.allSatisfy({ !$0.isEmpty }) else { throw CallerRefusal(.unknown, challenge) }
        let own = found.map { $0.filter { $0.tenant.equalsByteForByte(tenant) } }
        guard let caller = own.first(where: { !$0.isEmpty })?.first else {
            // No caller of this tenant; the first by the configuration's order is named.
            guard let other = found.first?.first(where: { caller in found.allSatisfy { $0.contains(caller) } }) else {
                throw CallerRefusal(.several, challenge)
            }
            throw CallerRefusal(.otherTenant, challenge, caller: other)
        }
        guard own.allSatisfy({ $0.allSatisfy { $0 == caller } && !$0.isEmpty }) else {
            throw CallerRefusal(.several, challenge)
        }
        guard caller.rights.contains(right) else {
            throw CallerRefusal(.right, challenge, caller: caller, right: right)
        }
        return caller
    }

    /// The credentials that a request carries.
    private func credentials(of request: HTTPRequest) -> [CallerCredential] {
        let keys = request.headers.values(of: "X-API-Key").map { credential(.apiKey, $0) }
        let authorizations = request.headers.values(of: .authorization).map(authorization)
        let certificates =
            proxies.sent(request)
            ? request.headers.values(of: "X-Client-Cert-SHA256").map { CallerCredential(.certificate, sha256: $0) } : []
        return (keys + authorizations + certificates).compactMap { $0 }
    }

    private func authorization(_ value: String) -> CallerCredential? {
        let parts = value.split(separator: " ", maxSplits: 1)
        guard parts.count == 2 else { return nil }
        switch parts[0].lowercased() {
        case "bearer": return credential(.bearer, String(parts[1]))
        case "basic":
            // Invalid base64 is wrong, not missing: taken literally, it matches no credential.
            let text = Data(base64Encoded: String(parts[1]))
            return try? CallerCredential(.basic, secret: text.map { Secret($0) } ?? Secret(String(parts[1])))
        default: return nil
        }
    }

    private func credential(_ kind: CallerCredential.Scheme, _ secret: String) -> CallerCredential? {
        secret.isEmpty ? nil : try? CallerCredential(kind, secret: Secret(secret))
    }
}

/// Why a caller's request is refused.
package struct CallerRefusal: DiagnosableError, Equatable {
    /// The kinds of refusal.
    package enum Kind: String, Sendable {
        /// The request carries no credentials; 401.
        case missing = "callerMissing"
        /// The request's credentials are unknown; 401.
        case unknown = "callerUnknown"
        /// The request identifies two callers; 401.
        case several = "callerAmbiguous"
        /// The caller is another tenant's; 403.
        case otherTenant = "callerOfAnotherTenant"
        /// The caller lacks the right; 403.
        case right = "callerRight"
    }

    /// The kind of refusal.
    package let kind: Kind
    /// The caller, if known, for the log and the audit.
    package let caller: Caller?
    private let right: CallerRight?
    private let challenge: String

    fileprivate init(_ kind: Kind, _ challenge: String, caller: Caller? = nil, right: CallerRight? = nil) {
        self.kind = kind
        self.challenge = challenge
        self.caller = caller
        self.right = right
    }

    /// 401 or 403.
    package var status: Int { caller == nil ? 401 : 403 }
    /// The field that a reply with 401 has to have: the schemes that some caller of the configuration has.
    package var headers: HTTPHeaders {
        var headers: HTTPHeaders = [:]
        headers["WWW-Authenticate"] = caller == nil ? challenge : nil
        return headers
    }
    package var code: String { kind.rawValue }

    package var reason: String {
        switch kind {
        case .missing: "The request has no API key, no Basic or Bearer authorization and no client certificate."
        case .unknown: "The request's credentials are unknown."
        case .several: "The request's credentials belong to different callers."
        case .otherTenant: "The credentials belong to another tenant's caller."
        case .right: "The caller lacks the right \(right?.rawValue ?? "")."
        }
    }

    package var remedy: String {
        switch kind {
        case .missing, .several: "Send the credentials of one caller."
        case .unknown: "Compare the credentials with the server's configuration."
        case .otherTenant: "Use the path of the caller's own tenant."
        case .right: "Ask the operator to grant the right."
        }
    }
}
