import Foundation
public import LatchkeyCore
public import LatchkeyHTTP
public import LatchkeyServer

/// JW Platform's Studio DRM: a delivery document with signed addresses, then certificate and raw licenses from these.
///
/// All keys of the server belong to one medium. The content identifier is a constant, so that a signed address opens one
/// key: that of the medium's name, else the server's first. A content identifier that names a key wins over it, for media
/// with several.
///
/// Source: `vendors.md` §17.
public struct JWPlatformService: VendorService {
    /// What can be set about the service.
    public struct Configuration: Sendable {
        /// The one medium that the service has; nil, the default, has any.
        public var mediaID: String?
        /// The one policy that the service has; nil, the default, has any.
        public var policyID: String?
        /// The playlist that the delivery document names, from the host's root.
        public var playlist = "/media/jw-platform/ts/master.m3u8"
        /// How long a signed address is good. Default 600 s.
        public var addressLifetime = Duration.seconds(600)
        /// The key that delivery tokens have to be signed with, HS256, at most 64 bytes; nil, the default, takes any.
        public var signingKey: Secret?

        /// The defaults.
        public init() {}
    }

    public let identifier: ServiceIdentifier = "jw-platform"
    public let environment: ServiceEnvironment
    private let configuration: Configuration
    /// Signs the addresses; new with every service.
    private let addressKey = Secret((0..<32).map { _ in UInt8.random(in: .min ... .max) })

    /// - Parameters:
    ///   - environment: what the service stands on.
    ///   - configuration: names, playlist and signatures.
    public init(_ environment: ServiceEnvironment, configuration: Configuration = Configuration()) {
        self.environment = environment
        self.configuration = configuration
    }

    public func endpoint(of request: HTTPRequest) -> ServiceEndpoint? {
        switch request.path {
        // Clients take both addresses from the delivery document; the vendor publishes no paths.
        case "/fairplay/application-certificate": .certificate
        case "/fairplay/process-spc": .license
        case let path where path.hasPrefix("/v2/media/") && Self.names(in: path) != nil: .delivery
        default: nil
        }
    }

    public func answer(_ call: ServiceCall) async throws(LicenseRefusal) -> HTTPResponse {
        switch call.endpoint {
        case .delivery: try delivery(call)
        case .certificate: try call.certificateFile()
        default: try await license(call)
        }
    }

    public func keyURI(for key: StoredKey, at host: String) -> String { "skd://\(key.id)" }

    public func parameters(at base: String) -> [String: String] {
        // The service does not see whether its host speaks TLS, so the delivery request says it.
        let scheme = base.hasPrefix("https:") ? "?scheme=https" : ""
        let (media, policy) = (configuration.mediaID ?? "latchkey", configuration.policyID ?? "latchkey")
        return ["deliveryURL": "\(base)/v2/media/\(media)/drm/\(policy)\(scheme)"]
    }

    public func demoToken() -> Secret { token() }

    /// A delivery token that expires in an hour unless its claims say otherwise.
    /// - Parameter claims: a JSON object; other text counts as no claims.
    public func token(claims: String = "{}") -> Secret {
        let members = JSONWebToken.claims(claims, at: environment.time.date)
        return Secret(JSONWebToken.text(claims: .object(members), key: configuration.signingKey))
    }
}

extension ServiceEndpoint {
    /// JW Platform's delivery document.
    public static let delivery: ServiceEndpoint = "delivery"
}

extension JWPlatformService {
    private func delivery(_ call: ServiceCall) throws(LicenseRefusal) -> HTTPResponse {
        try call.require("GET", "HEAD")
        guard let names = Self.names(in: call.request.path), isKnown(names) else {
            throw LicenseRefusal(
                .vendor(code: "notFound", status: 404), reason: "There is no such medium or policy.",
                remedy: "Check the delivery URL.")
        }
        _ = try JSONWebToken.checked(
            call.token(inQuery: "token"), key: configuration.signingKey, date: environment.time.date)
        let keys = environment.authority.keys
        guard let key = keys.hasKey(named: names.media) ? names.media : keys.keys.first?.id.description else {
            throw .malformed("The server has no keys.")
        }
        return .json(document(for: key, call))
    }

    /// `playlist[0].sources[0]` with `file` and `drm.fairplay`.
    private func document(for key: String, _ call: ServiceCall) -> [String: JSONValue] {
        let scheme = call.request.queryValue("scheme") == "https" ? "https" : "http"
        let origin = "\(scheme)://\(call.hostName)"
        let address = address(of: key).revealedText
        let fairPlay: [String: JSONValue] = [
            "certificateUrl": .text("\(origin)/\(identifier)/fairplay/application-certificate"),
            "processSpcUrl": .text("\(origin)/\(identifier)/fairplay/process-spc?token=\(address)"),
        ]
        let source: [String: JSONValue] = [
            "file": .text(origin + configuration.playlist), "type": .text("application/vnd.apple.mpegurl"),
            "drm": .object(["fairplay": .object(fairPlay)]),
        ]
        return ["playlist": .array([.object(["sources": .array([.object(source)])])])]
    }

    private func license(_ call: ServiceCall) async throws(LicenseRefusal) -> HTTPResponse {
        try call.require("POST")
        guard let text = call.request.queryValue("token"), !text.isEmpty else {
            throw .tokenMissing("the signed address")
        }
        let address = try JSONWebToken.checked(text, key: addressKey, date: environment.time.date)
        let keys = environment.authority.keys
        let signed = address.claims["key"]?.text ?? ""
        let question = LicenseQuestion(spc: try call.rawSPC(), keyName: nil) { identifier in
            let name = keys.name(in: identifier)
            return keys.hasKey(named: name) ? name : signed
        }
        return .octets(try await call.ckc(for: question))
    }

    /// What signs a license address: which key, and until when.
    private func address(of key: String) -> Secret {
        let end = environment.time.date.timeIntervalSince1970.rounded() + configuration.addressLifetime.inSeconds
        return Secret(
            JSONWebToken.text(claims: .object(["key": .text(key), "exp": .number(end)]), key: addressKey))
    }

    private func isKnown(_ names: (media: String, policy: String)) -> Bool {
        (configuration.mediaID ?? names.media) == names.media
            && (configuration.policyID ?? names.policy) == names.policy
    }

    /// Medium and policy in `/v2/media/<medium>/drm/<policy>`; nil for other paths.
    private static func names(in path: String) -> (media: String, policy: String)? {
        let path = path.split(separator: "/").map(String.init)
        guard path.count == 5, path[3] == "drm" else { return nil }
        return (path[2], path[4])
    }
}
