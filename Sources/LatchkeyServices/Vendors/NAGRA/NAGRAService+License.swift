import LatchkeyCore
package import LatchkeyDecision
import LatchkeyForms
package import LatchkeyHTTP
package import LatchkeyVendorWire

/// Certificate and license.
extension NAGRAService {
    package func certificate(_ call: ServiceCall) throws(LicenseRefusal) -> HTTPResponse {
        if let header = call.request.headers[api.tokenHeader] {
            _ = try content(header.split(separator: ",").first.map(String.init) ?? "")
        }
        return .octets(try call.certificate())
    }

    package func question(_ call: ServiceCall) throws(LicenseRefusal) -> LicenseQuestion {
        var question = try api.licenseRequest(call)
        let grant = call.request.queryValue("renew") == "true" ? try renewal(call) : try first(call)
        question.objection = { grant.content.objection(to: JSONValue($1.bytes)?["ContentId"]?.text) }
        let isEnforced = enforcesSessions && grant.session != nil
        question.grant.terms = isEnforced ? LicenseTerms(.lease(heartbeat * 2)) : grant.content.terms
        return question
    }

    package func reply(_ license: IssuedLicense, to call: ServiceCall) -> HTTPResponse {
        let tokens = enforcesSessions ? api.tokens(of: call.request) : []
        // Once for each: a lazy search would replace a session's token more than once.
        let next = tokens.compactMap { sessions.next(after: $0) }
        return api.reply(call.ckc(of: license), sessionToken: next.first)
    }

    private typealias Grant = (content: NAGRAContentToken, session: String?)

    /// The tokens of a first license: a content token, possibly tokens with encrypted content keys, possibly a session token.
    private func first(_ call: ServiceCall) throws(LicenseRefusal) -> Grant {
        var tokens = try tokens(call)
        let content = try content(tokens.removeFirst())
        let others = tokens.filter { $0.split(separator: ".", omittingEmptySubsequences: false).count != 5 }
        guard others.count < 2 else { throw .malformed("There are several session tokens.") }
        guard let session = others.first else {
            if content.needsSession {
                try call.breach(of: NAGRAAPI.sessionFirst, "The content needs a session, and no session token is sent.")
            }
            return (content, nil)
        }
        _ = try openSession(session, call)
        return (content, session)
    }

    /// A renewal has only the session's token.
    private func renewal(_ call: ServiceCall) throws(LicenseRefusal) -> Grant {
        let tokens = try tokens(call)
        if tokens.count > 1 {
            try call.breach(of: NAGRAAPI.renewalAlone, "A renewal takes the session token and nothing else.")
        }
        let session = tokens[tokens.count - 1]
        return (try openSession(session, call), session)
    }

    /// At least one token.
    func tokens(_ call: ServiceCall) throws(LicenseRefusal) -> [String] {
        let tokens = api.tokens(of: call.request)
        guard !tokens.isEmpty else { throw .tokenMissing("the header \(api.tokenHeader)") }
        if call.request.headers[api.tokenHeader]?.contains(" ") == true {
            try call.breach(of: NAGRAAPI.blank, "The tokens have blanks around the comma.")
        }
        return tokens
    }

    func content(_ token: String) throws(LicenseRefusal) -> NAGRAContentToken {
        try NAGRAContentToken(token, key: signingKey, date: environment.time.date)
    }

    /// The content token with which an open session was set up.
    func openSession(_ token: String, _ call: ServiceCall) throws(LicenseRefusal) -> NAGRAContentToken {
        guard let session = sessions.session(token) else {
            throw Self.noSession(at: call.endpoint)
        }
        if session.standing == .previous { call.warn("sessionToken", "the session token was replaced by a newer one") }
        return session.content
    }
}
