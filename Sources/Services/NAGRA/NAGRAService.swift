import Foundation
public import LatchkeyCore
public import LatchkeyHTTP
public import LatchkeyServer

/// NAGRA CONNECT: certificate, licenses for content and session tokens, and secure session management V1.
///
/// Source: `vendors.md` §9.
public struct NAGRAService: VendorService {
    /// What can be set about the service.
    public struct Configuration: Sendable {
        /// The tenant in paths and in `nv-tenant-id`; nil, the default, takes any.
        public var tenant: String?
        /// The header field of the tokens. Default `nv-authorizations`.
        public var tokenHeader = "nv-authorizations"
        /// The content of the service's keys. Default `latchkey-demo`.
        public var contentID = "latchkey-demo"
        /// The key that content tokens have to be signed with, HS256, at most 64 bytes; nil, the default, takes any.
        public var signingKey: Secret?
        /// Whether every license needs a session. Default false: the content token decides.
        public var requiresSessions = false
        /// Whether the session lives in the licenses, which then are leases of two heartbeats. Default false, as at NAGRA.
        public var enforcesSessions = false
        /// How often a session has to be heard from, whole seconds. Default 30 s.
        public var heartbeat = Duration.seconds(30)
        /// How many sessions an account may have at once; nil, the default, leaves it to the content token.
        public var sessionLimit: Int?

        /// The defaults.
        public init() {}
    }

    public let identifier: ServiceIdentifier = "nagra"
    public let environment: ServiceEnvironment
    let configuration: Configuration
    let sessions: NAGRASessions

    /// - Parameters:
    ///   - environment: what the service stands on.
    ///   - configuration: tenant, tokens and sessions.
    public init(_ environment: ServiceEnvironment, configuration: Configuration = Configuration()) {
        self.environment = environment
        self.configuration = configuration
        sessions = NAGRASessions(time: environment.time, heartbeat: configuration.heartbeat)
    }

    /// How many sessions are open, those that fell silent since the last setup included.
    public var openSessions: Int { sessions.count }

    public var redaction: Redaction { Redaction(headers: [configuration.tokenHeader], fields: ["sessionToken"]) }

    public func endpoint(of request: HTTPRequest) -> ServiceEndpoint? {
        let path = request.path.split(separator: "/").map(String.init)
        guard let tenant = path.first, configuration.tenant.map({ $0 == tenant }) ?? true else { return nil }
        switch Array(path.dropFirst()) {
        case ["fpls", "contentlicenseservice", "v1", "certificates"],
            ["fpls", "contentlicenseservice", "v1", "certificates", tenant]:
            return .certificate
        case ["fpls", "contentlicenseservice", "v1", "licenses"]: return .license
        case ["ssm", "v1", "sessions", "setup"]: return .sessionSetup
        case ["ssm", "v1", "sessions", "heartbeat"]: return .sessionHeartbeat
        case ["ssm", "v1", "sessions", "teardown"]: return .sessionTeardown
        default: return nil
        }
    }

    public func answer(_ call: ServiceCall) async throws(LicenseRefusal) -> HTTPResponse {
        switch call.endpoint {
        case .certificate: return try certificate(call)
        case .sessionSetup: return try setup(call)
        case .sessionHeartbeat: return try heartbeat(call)
        case .sessionTeardown: return try teardown(call)
        default: return try await license(call)
        }
    }

    public func keyURI(for key: StoredKey, at host: String) -> String {
        let iv = key.content.iv.revealed.base64EncodedString()
        let json = #"{"ContentId":"\#(configuration.contentID)","KeyId":"\#(key.id)","IV":"\#(iv)"}"#
        return "skd://\(Data(json.utf8).base64EncodedString())"
    }

    public func parameters(at base: String) -> [String: String] {
        let tenant = configuration.tenant ?? "DEMO"
        let licenses = "\(base)/\(tenant)/fpls/contentlicenseservice/v1"
        return [
            "certificateURL": "\(licenses)/certificates", "licenseURL": "\(licenses)/licenses",
            "sessionURL": "\(base)/\(tenant)/ssm/v1", "tenant": tenant, "tokenHeader": configuration.tokenHeader,
        ]
    }

    public func demoToken() -> Secret { contentToken() }

    /// A content token with a right to the service's content that expires in an hour, unless its claims say otherwise.
    /// - Parameter claims: a JSON object with claims in place of the usual.
    public func contentToken(claims: String = "{}") -> Secret {
        let right = JSONValue.object(["contentId": .text(configuration.contentID)])
        var members: [String: JSONValue] = [
            "ver": .text("1.0"), "typ": .text("ContentAuthZ"), "contentRights": .array([right]),
            "device": .object(["accountId": .text("latchkey")]),
        ]
        members.merge(JSONWebToken.claims(claims, at: environment.time.date)) { $1 }
        return Secret(
            JSONWebToken.text(claims: .object(members), key: configuration.signingKey, keyID: "latchkey"))
    }

    public func reply(to refusal: LicenseRefusal, of call: ServiceCall) -> HTTPResponse {
        let error = NAGRAError(refusal)
        return .json(
            ["errorCode": .number(Double(error.code)), "message": .text(refusal.reason)], status: error.status)
    }
}

extension ServiceEndpoint {
    /// Opens a secure session.
    public static let sessionSetup: ServiceEndpoint = "sessionSetup"
    /// Keeps a secure session alive.
    public static let sessionHeartbeat: ServiceEndpoint = "sessionHeartbeat"
    /// Closes a secure session.
    public static let sessionTeardown: ServiceEndpoint = "sessionTeardown"
}

/// A refusal as NAGRA's services write it. Of the numbers only 1007 is public; the others are ours.
///
/// Source: `vendors.md` §9.1 and §9.2, errors.
private struct NAGRAError {
    let code: Int
    /// Documented are 400 and 500.
    let status: Int

    init(_ refusal: LicenseRefusal) {
        switch refusal.kind {
        case .vendor(let code, let status): (self.code, self.status) = (Int(code) ?? 0, status)
        case .sessionLimit: (code, status) = (1007, 400)
        case .method, .mediaType: (code, status) = (1000, refusal.status)
        case .tokenMissing, .tokenMalformed, .tokenExpired, .tokenNotYetValid, .tokenSignature, .tokenUsed:
            (code, status) = (1001, 400)
        case .notCovered, .unknownTenant, .contentMismatch: (code, status) = (1002, 400)
        case .unknownKey, .ambiguousKey: (code, status) = (1004, 400)
        case .spc: (code, status) = (1005, 400)
        case .malformedRequest: (code, status) = (1000, 400)
        case .overloaded: (code, status) = (1000, 500)
        }
    }
}
