import Foundation
public import LatchkeyCore
public import LatchkeyHTTP
public import LatchkeyServer

/// Mux: certificate and raw licenses from URLs that end in the playback id and carry the token.
///
/// Status 200 with an empty body, which the real service sends at times, is the fault `emptyBody`.
///
/// Source: `vendors.md` §15.
public struct MuxService: VendorService {
    /// What can be set about the service.
    public struct Configuration: Sendable {
        /// The one playback id that the service knows; nil, the default, knows any.
        public var playbackID: String?
        /// The playback ids whose assets are still being prepared: 412.
        public var preparing: Set<String> = []
        /// The key that tokens have to be signed with, HS256, at most 64 bytes; nil, the default, takes any.
        public var signingKey: Secret?

        /// The defaults.
        public init() {}
    }

    public let identifier: ServiceIdentifier = "mux"
    public let environment: ServiceEnvironment
    private let configuration: Configuration

    private var playbackID: String { configuration.playbackID ?? "latchkey-demo" }

    /// - Parameters:
    ///   - environment: what the service stands on.
    ///   - configuration: playback ids and signing key.
    public init(_ environment: ServiceEnvironment, configuration: Configuration = Configuration()) {
        self.environment = environment
        self.configuration = configuration
    }

    public func endpoint(of request: HTTPRequest) -> ServiceEndpoint? {
        let path = request.path.split(separator: "/").map(String.init)
        guard path.count == 3, path[1] == "fairplay" else { return nil }
        switch path[0] {
        case "appcert": return .certificate
        case "license": return .license
        default: return nil
        }
    }

    public func answer(_ call: ServiceCall) async throws(LicenseRefusal) -> HTTPResponse {
        if call.endpoint == .certificate {
            try call.require("GET", "HEAD")
            _ = try token(of: call)
            return try call.certificateFile()
        }
        return try await license(call)
    }

    /// The vendor's session token in the URI is opaque; here it names the key, as the playback id is the same for all.
    public func keyURI(for key: StoredKey, at host: String) -> String {
        "skd://\(host)/\(identifier)/?playbackId=\(playbackID)&token=\(key.id.bytes.hexString)"
    }

    public func parameters(at base: String) -> [String: String] {
        [
            "certificateURL": "\(base)/appcert/fairplay/\(playbackID)",
            "licenseURL": "\(base)/license/fairplay/\(playbackID)", "playbackId": playbackID,
        ]
    }

    public func demoToken() -> Secret { token() }

    /// A token for the service's playback id that expires in an hour, unless its claims say otherwise.
    /// - Parameter claims: a JSON object, such as `{"offline":true,"licenseExpiration":86400,"playDuration":3600}`.
    public func token(claims: String = "{}") -> Secret {
        var members: [String: JSONValue] = ["sub": .text(playbackID), "aud": .text("d")]
        members.merge(JSONWebToken.claims(claims, at: environment.time.date)) { $1 }
        return Secret(JSONWebToken.text(claims: .object(members), key: configuration.signingKey))
    }

    public func reply(to refusal: LicenseRefusal, of call: ServiceCall) -> HTTPResponse {
        .text("\(refusal.code): \(refusal.reason)", status: Self.status(of: refusal))
    }
}

extension MuxService {
    private func license(_ call: ServiceCall) async throws(LicenseRefusal) -> HTTPResponse {
        try call.require("POST")
        let token = try token(of: call)
        let playbackID = Self.playbackID(in: call.request.path)
        let keys = environment.authority.keys
        var question = LicenseQuestion(spc: try call.rawSPC(), keyName: nil, terms: token.terms) { identifier in
            let session = Self.uri(identifier).queryValue("token") ?? ""
            return keys.hasKey(named: session) ? session : playbackID
        }
        question.objection = { _, identifier in
            guard let stated = Self.uri(identifier).queryValue("playbackId"), stated != playbackID else { return nil }
            return .notCovered("The SPC is for another playback id than the URL.")
        }
        return .octets(try await call.ckc(for: question))
    }

    /// The whole key URI, with or without its scheme; one client leaves a zero in front of the latter.
    private static func uri(_ identifier: ContentIdentifier) -> KeyURI {
        KeyURI(String((identifier.text ?? "").drop { $0 == "\0" }))
    }

    private func token(of call: ServiceCall) throws(LicenseRefusal) -> MuxToken {
        let id = Self.playbackID(in: call.request.path)
        guard id.wholeMatch(of: /[A-Za-z0-9_\-]{1,128}/) != nil else { throw .malformed("That is no playback id.") }
        let text = try call.token(inQuery: "token")
        let token = try MuxToken(text, for: id, key: configuration.signingKey, date: environment.time.date)
        guard configuration.playbackID.map({ $0 == id }) ?? true else {
            throw .unknownTenant("There is no such playback id.")
        }
        guard !configuration.preparing.contains(id) else {
            throw LicenseRefusal(
                .vendor(code: "notReady", status: 412), reason: "The asset is not ready.", remedy: "Try again later.")
        }
        return token
    }

    private static func playbackID(in path: String) -> String { String(path.split(separator: "/").last ?? "") }

    /// The statuses that the vendor documents: 400 for what is missing or no id, 403 for tokens and unknown ids.
    private static func status(of refusal: LicenseRefusal) -> Int {
        switch refusal.kind {
        case .tokenMissing: 400
        case .tokenMalformed, .tokenExpired, .tokenNotYetValid, .tokenSignature, .unknownKey, .ambiguousKey: 403
        default: refusal.status
        }
    }
}
