import Foundation
package import LatchkeyCore
package import LatchkeyDecision
package import LatchkeyForms
package import LatchkeyHTTP
package import LatchkeyMedia
package import LatchkeyVendorWire

/// NAGRA CONNECT, with content and session tokens, and secure session management V1. Source: `Documentation/Vendors/NAGRA.md`.
package struct NAGRAService: SignedTokenService, VendorAPIService {
    package let environment: ServiceEnvironment
    package var api = NAGRAAPI()
    /// The content of the service's keys. Defaults to `latchkey-demo`.
    package var contentID = "latchkey-demo"
    /// The key that signs content tokens, HS256, at most 64 bytes. Defaults to `nil`: any.
    package var signingKey: Secret?
    /// Whether licenses keep the session alive; then they are leases of two heartbeats. Defaults to `false`, as at NAGRA.
    package var enforcesSessions = false
    /// How often a session needs a heartbeat, in whole seconds. Defaults to `defaultHeartbeat`.
    package var heartbeat = defaultHeartbeat
    /// 30 s.
    package static let defaultHeartbeat = Duration.seconds(30)
    /// The number of concurrent sessions that an account may have. Defaults to `nil`: the content token decides.
    package var sessionLimit: Int?
    let sessions: NAGRASessions

    /// - Parameter environment: the service's dependencies.
    package init(_ environment: ServiceEnvironment) {
        self.environment = environment
        sessions = NAGRASessions(environment.time)
    }

    /// The number of open sessions, including sessions without heartbeats since the last setup.
    package var openSessions: Int { sessions.count }

    package var redaction: Redaction { Redaction(headers: [api.tokenHeader.rawValue], fields: ["sessionToken"]) }

    package var routes: [ServiceRoute] {
        let tenant = "/\(api.tenant ?? "{tenant}")"
        return wireRoutes + [
            .endpoint(.sessionSetup, [.post], "\(tenant)/ssm/v1/sessions/setup", setup),
            .endpoint(.sessionHeartbeat, [.post], "\(tenant)/ssm/v1/sessions/heartbeat", keepAlive),
            .endpoint(.sessionTeardown, [.post], "\(tenant)/ssm/v1/sessions/teardown", teardown),
        ]
    }

    package func keyURI(for key: StoredKey, at host: String) -> String {
        let iv = key.content.iv.revealed.base64EncodedString()
        let json = #"{"ContentId":"\#(contentID)","KeyId":"\#(key.id)","IV":"\#(iv)"}"#
        return "skd://\(Data(json.utf8).base64EncodedString())"
    }

    package func parameters(at base: String) -> [String: String] {
        let tenant = api.tenant ?? "DEMO"
        let licenses = "\(base)/\(tenant)/fpls/contentlicenseservice/v1"
        return [
            "certificateURL": "\(licenses)/certificates", "licenseURL": "\(licenses)/licenses",
            "sessionURL": "\(base)/\(tenant)/ssm/v1", "tenant": tenant, "tokenHeader": api.tokenHeader.rawValue,
        ]
    }

    package func demoToken() -> Secret { contentToken() }

    package var usualClaims: [String: JSONValue] {
        let session = JSONValue.object(["sessionControlEnabled": .flag(true)])
        let right = JSONValue.object(["contentId": .text(contentID), "sessionControl": session])
        return [
            "ver": .text("1.0"), "typ": .text("ContentAuthZ"), "contentRights": .array([right]),
            "device": .object(["accountId": .text("latchkey")]),
        ]
    }

    /// A content token with a right to the service's content in a session, which expires in an hour, unless its claims say otherwise.
    /// - Parameter claims: a JSON object with claims in place of the usual ones.
    package func contentToken(claims: String = "{}") -> Secret { token(claims, keyID: "latchkey") }

    package var documentedRefusals: [DocumentedRefusal] { Self.documented }

    package func reply(to refusal: LicenseRefusal, of call: ServiceCall) -> HTTPResponse {
        api.reply(to: refusal, isOfSession: Self.sessionEndpoints.contains(call.endpoint))
    }
}
