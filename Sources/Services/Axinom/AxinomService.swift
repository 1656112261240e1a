import Foundation
public import LatchkeyCore
public import LatchkeyHTTP
public import LatchkeyServer

/// Axinom DRM: raw licenses for a license service message, errors in a header field.
///
/// Source: `vendors.md` §10.
public struct AxinomService: VendorService {
    /// What can be set about the service.
    public struct Configuration: Sendable {
        /// The communication key's identifier that messages need; nil, the default, takes any.
        public var communicationKeyID: KeyID?
        /// The communication key that signs messages, HS256, at most 64 bytes; nil, the default, takes any signature.
        public var communicationKey: Secret?
        /// Whether key URIs carry the IV. Default true; without it the message has to.
        public var keyURIsHaveIV = true

        /// The defaults.
        public init() {}
    }

    public let identifier: ServiceIdentifier = "axinom"
    public let environment: ServiceEnvironment
    private let configuration: Configuration

    /// - Parameters:
    ///   - environment: what the service stands on.
    ///   - configuration: communication key and form of key URIs.
    public init(_ environment: ServiceEnvironment, configuration: Configuration = Configuration()) {
        self.environment = environment
        self.configuration = configuration
    }

    public var redaction: Redaction { Redaction(headers: ["X-AxDRM-Message"], queryItems: ["X-AxDRM-Message"]) }

    public func endpoint(of request: HTTPRequest) -> ServiceEndpoint? {
        switch request.path {
        case "/FPScert/fairplay.cer": .certificate
        case "/AcquireLicense": .license
        default: nil
        }
    }

    public func answer(_ call: ServiceCall) async throws(LicenseRefusal) -> HTTPResponse {
        call.endpoint == .certificate ? try call.certificateFile() : try await license(call)
    }

    public func keyURI(for key: StoredKey, at host: String) -> String {
        configuration.keyURIsHaveIV
            ? "skd://\(key.id):\(key.content.iv.withUnsafeBytes { $0.hexString })" : "skd://\(key.id)"
    }

    public func parameters(at base: String) -> [String: String] {
        ["certificateURL": "\(base)/FPScert/fairplay.cer", "licenseURL": "\(base)/AcquireLicense"]
    }

    /// A message that lists the first 50 keys, as a header field has to hold it.
    public func demoToken() -> Secret { message(for: environment.authority.keys.keys.prefix(50).map(\.id)) }

    /// A message for keys.
    /// - Parameters:
    ///   - keys: the keys that it lists, without IVs.
    ///   - license: a JSON object for the entitlement message's `license`; other text counts as none.
    ///   - dates: a JSON object with `begin_date` and `expiration_date`; other text counts as none.
    public func message(for keys: [KeyID], license: String = "{}", dates: String = "{}") -> Secret {
        let inline = keys.map { JSONValue.object(["id": .text($0.description)]) }
        let entitlement = JSONValue.object([
            "type": .text("entitlement_message"), "version": .number(2),
            "license": JSONValue(Data(license.utf8)) ?? .object([:]),
            "content_keys_source": .object(["inline": .array(inline)]),
        ])
        let id = configuration.communicationKeyID?.description ?? "69e54088-e9e0-4530-8c1a-1eb6dcd0d14e"
        var members: [String: JSONValue] = [
            "version": .number(1), "com_key_id": .text(id), "message": entitlement,
        ]
        if case .object(let stated) = JSONValue(Data(dates.utf8)) { members.merge(stated) { $1 } }
        return Secret(JSONWebToken.text(claims: .object(members), key: configuration.communicationKey))
    }

    /// Status 400, the text in `X-AxDRM-ErrorMessage`, no body.
    public func reply(to refusal: LicenseRefusal, of call: ServiceCall) -> HTTPResponse {
        let status =
            switch refusal.kind {
            case .method, .mediaType, .overloaded, .vendor: refusal.status
            default: 400
            }
        return HTTPResponse(status: status, headers: ["X-AxDRM-ErrorMessage": Self.headerText(refusal)])
    }
}

extension AxinomService {
    private func license(_ call: ServiceCall) async throws(LicenseRefusal) -> HTTPResponse {
        try call.require("POST")
        let name = "X-AxDRM-Message"
        guard let text = call.request.headers[name] ?? call.request.queryValue(name), !text.isEmpty else {
            throw .tokenMissing("the header or the query item \(name)")
        }
        let message = try AxinomMessage(
            text, key: configuration.communicationKey, communicationKeyID: configuration.communicationKeyID,
            date: environment.time.date)
        var question = LicenseQuestion(spc: try call.rawSPC(), keyName: nil, terms: message.terms) { identifier in
            Self.parts(of: identifier)?.key
        }
        question.objection = { message.objection(to: $0, iv: Self.parts(of: $1)?.iv) }
        var response = HTTPResponse.octets(try await call.ckc(for: question))
        response.headers["X-AxDRM-Identity"] = call.id
        response.headers["X-AxDRM-Server"] = "latchkey"
        response.headers["X-AxDRM-Version"] = "1"
        return response
    }

    /// Key and IV, with a colon between, with or without the scheme in front.
    private static func parts(of identifier: ContentIdentifier) -> (key: String, iv: String?)? {
        guard let text = identifier.text else { return nil }
        let parts = KeyURI(text).remainder.split(separator: ":", maxSplits: 1).map(String.init)
        return parts.first.map { ($0, parts.count > 1 ? parts[1] : nil) }
    }

    /// What a header field may hold: ASCII, in one line.
    private static func headerText(_ refusal: LicenseRefusal) -> String {
        let text = refusal.reason.replacing("“", with: "'").replacing("”", with: "'")
        return
            "\(refusal.code): \(String(text.unicodeScalars.filter { $0.isASCII && $0.value >= 32 }.map(Character.init)))"
    }
}
