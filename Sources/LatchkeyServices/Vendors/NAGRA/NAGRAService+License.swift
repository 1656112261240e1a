import Foundation
import LatchkeyCore
import LatchkeyDecision
import LatchkeyForms
import LatchkeyHTTP
import LatchkeyVendorWire

/// Certificate and license.
extension NAGRAService {
    func certificate(_ call: ServiceCall) throws(LicenseRefusal) -> HTTPResponse {
        if let header = call.request.headers[tokenHeader] {
            _ = try content(header.split(separator: ",").first.map(String.init) ?? "")
        }
        return .octets(try call.certificate())
    }

    func license(_ call: ServiceCall) async throws(LicenseRefusal) -> HTTPResponse {
        try checkTenant(call)
        let spc = try call.rawSPC()
        let grant = call.request.queryValue("renew") == "true" ? try renewal(call) : try first(call)
        let lease = LicenseTerms(.lease(heartbeat * 2))
        let isEnforced = enforcesSessions && grant.session != nil
        // The content identifier is the decoded JSON of the key URI.
        let key = RequestedKey.namedInSPC { JSONValue($0.bytes)?["KeyId"]?.text ?? $0.text }
        let question = LicenseQuestion(spc: spc, key: key, terms: isEnforced ? lease : grant.content.terms) {
            grant.content.objection(to: JSONValue($1.bytes)?["ContentId"]?.text)
        }
        let ckc = try await call.ckc(for: question)
        var reply: [String: JSONValue] = ["CkcMessage": .text(ckc.base64EncodedString())]
        if isEnforced, let session = grant.session, let next = sessions.next(after: session) {
            reply["sessionToken"] = .text(next)
        }
        return .json(reply)
    }

    private typealias Grant = (content: NAGRAContentToken, session: String?)

    /// The tokens of a first license: a content token, possibly tokens with encrypted content keys, possibly a session token.
    private func first(_ call: ServiceCall) throws(LicenseRefusal) -> Grant {
        var tokens = try tokens(call)
        let content = try content(tokens.removeFirst())
        let others = tokens.filter { $0.split(separator: ".", omittingEmptySubsequences: false).count != 5 }
        guard others.count < 2 else { throw .malformed("There are several session tokens.") }
        guard let session = others.first else {
            guard !requiresSessions, !content.needsSession else {
                throw .tokenMissing("\(tokenHeader) for the session that the content needs")
            }
            return (content, nil)
        }
        _ = try openSession(session, call)
        return (content, session)
    }

    /// A renewal has only the session's token.
    private func renewal(_ call: ServiceCall) throws(LicenseRefusal) -> Grant {
        let tokens = try tokens(call)
        guard tokens.count == 1 else { throw .malformed("A renewal takes the session token and nothing else.") }
        return (try openSession(tokens[0], call), tokens[0])
    }

    /// At least one token.
    func tokens(_ call: ServiceCall) throws(LicenseRefusal) -> [String] {
        let header = call.request.headers[tokenHeader] ?? ""
        let tokens = header.split(separator: ",").map(String.init)
        guard !tokens.isEmpty else { throw .tokenMissing("the header \(tokenHeader)") }
        guard tokens.contains(where: { $0.contains(" ") }) else { return tokens }
        call.warn("tokenSeparator", "the tokens have blanks around the comma")
        // Around the comma alone: a blank inside a token damages it.
        return tokens.map { $0.trimmingCharacters(in: .whitespaces) }
    }

    func content(_ token: String) throws(LicenseRefusal) -> NAGRAContentToken {
        try NAGRAContentToken(token, key: signingKey, date: environment.time.date)
    }

    /// The content token that an open session was set up with.
    func openSession(_ token: String, _ call: ServiceCall) throws(LicenseRefusal) -> NAGRAContentToken {
        guard let session = sessions.session(token) else {
            throw NAGRAError.noSession(at: call.endpoint)
        }
        if session.standing == .previous { call.warn("sessionToken", "the session token was replaced by a newer one") }
        return session.content
    }

    private func checkTenant(_ call: ServiceCall) throws(LicenseRefusal) {
        guard let named = call.request.headers["nv-tenant-id"] else { return }
        guard let tenant = call.request.path.split(separator: "/").first, tenant == named else {
            throw .unknownTenant("The tenant of the path and that of nv-tenant-id differ.")
        }
    }
}
