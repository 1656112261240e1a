import Foundation
import LatchkeyDecision
import LatchkeyForms
import LatchkeyHTTP
import LatchkeyVendorWire

/// Secure session management, V1.
///
/// Source: `Documentation/Vendors/NAGRA.md`.
extension NAGRAService {
    func setup(_ call: ServiceCall) throws(LicenseRefusal) -> HTTPResponse {
        try checkBody(call)
        let tokens = try tokens(call)
        let content: NAGRAContentToken
        do { content = try self.content(tokens[0]) } catch {
            // The license service's numbers have other meanings here.
            guard case .vendor = error.kind else { throw error }
            throw .tokenMalformed(error.reason)
        }
        let limit = sessionLimit ?? content.sessionLimit
        var opened = sessions.open(content, limit: limit, heartbeat: heartbeat)
        if opened == nil {
            try call.breach(of: NAGRAAPI.sessionLimit, "The account has too many concurrent sessions.")
            opened = sessions.open(content, limit: nil, heartbeat: heartbeat)
        }
        guard let token = opened else { throw .overloaded }
        return .json([
            "sessionToken": .text(token), "heartbeat": .number(Double(heartbeat.components.seconds)),
        ])
    }

    func keepAlive(_ call: ServiceCall) throws(LicenseRefusal) -> HTTPResponse {
        let token = try sessionToken(call)
        _ = try openSession(token, call)
        guard let next = sessions.next(after: token) else {
            throw Self.noSession(at: call.endpoint)
        }
        return .json(["sessionToken": .text(next)])
    }

    func teardown(_ call: ServiceCall) throws(LicenseRefusal) -> HTTPResponse {
        let token = try sessionToken(call)
        _ = try openSession(token, call)
        sessions.close(token)
        return .json([:])
    }

    private func sessionToken(_ call: ServiceCall) throws(LicenseRefusal) -> String {
        try checkBody(call)
        let tokens = try tokens(call)
        guard tokens.count == 1 else { throw .malformed("The call takes the session token and nothing else.") }
        return tokens[0]
    }

    /// The body is `{}`.
    private func checkBody(_ call: ServiceCall) throws(LicenseRefusal) {
        _ = try call.json()
    }
}
