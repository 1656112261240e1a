import Foundation
public import LatchkeyCore
public import LatchkeyHTTP
public import LatchkeyServer

/// A service of no vendor that speaks the four usual dialects, each answered in kind.
///
/// `/raw`, `/base64`, `/form` and `/json` speak one; `/license` tells it by the `Content-Type`.
///
/// Source: `vendors.md` §20.
public struct GenericService: VendorService {
    /// What can be set about the service.
    public struct Configuration: Sendable {
        /// How the CKC that answers a form is written. Default bare.
        public var formReply = CKCText.bare
        /// What the header `Authorization` has to say, with or without `Bearer `; nil, the default, needs none.
        public var token: Secret?

        /// The defaults.
        public init() {}
    }

    public let identifier: ServiceIdentifier = "generic"
    public let environment: ServiceEnvironment
    private let configuration: Configuration

    /// - Parameters:
    ///   - environment: what the service stands on.
    ///   - configuration: token and form of the reply.
    public init(_ environment: ServiceEnvironment, configuration: Configuration = Configuration()) {
        self.environment = environment
        self.configuration = configuration
    }

    public func endpoint(of request: HTTPRequest) -> ServiceEndpoint? {
        switch request.path {
        case "/certificate": .certificate
        case "/license", "/raw", "/base64", "/form", "/json": .license
        default: nil
        }
    }

    public func answer(_ call: ServiceCall) async throws(LicenseRefusal) -> HTTPResponse {
        call.endpoint == .certificate ? try call.certificateFile() : try await license(call)
    }

    public func keyURI(for key: StoredKey, at host: String) -> String { "skd://\(key.id)" }

    public func parameters(at base: String) -> [String: String] {
        ["certificateURL": "\(base)/certificate", "licenseURL": "\(base)/license"]
    }

    public func demoToken() -> Secret { configuration.token ?? Secret("latchkey-demo-token") }
}

extension GenericService {
    private enum Dialect { case raw, base64, form, json }

    /// A request once its envelope is undone.
    private struct Message {
        let spc: Data
        var asset: String?
    }

    private func license(_ call: ServiceCall) async throws(LicenseRefusal) -> HTTPResponse {
        try call.require("POST")
        try checkToken(call)
        let dialect = try Self.dialect(of: call)
        let message = try Self.message(in: dialect, call)
        let keys = environment.authority.keys
        let question = LicenseQuestion(
            spc: message.spc, keyName: message.asset.map { keys.name(in: ContentIdentifier($0)) }
        ) { keys.name(in: $0) }
        let ckc = try await call.ckc(for: question)
        switch dialect {
        case .raw: return .octets(ckc)
        case .base64: return .ckc(ckc, as: .bare)
        case .form: return .ckc(ckc, as: configuration.formReply)
        case .json: return .ckc(ckc, in: .json)
        }
    }

    private func checkToken(_ call: ServiceCall) throws(LicenseRefusal) {
        guard let token = configuration.token else { return }
        let sent = try call.token(inHeader: "Authorization")
        let bare = sent.lowercased().hasPrefix("bearer ") ? String(sent.dropFirst(7)) : sent
        guard Secret(bare) == token else { throw .notCovered("The token is not the configured one.") }
    }

    private static func dialect(of call: ServiceCall) throws(LicenseRefusal) -> Dialect {
        switch (call.request.path, call.request.headers.mediaType) {
        case ("/raw", _): .raw
        case ("/base64", _): .base64
        case ("/form", _): .form
        case ("/json", _): .json
        // Raw SPCs begin with the byte 0 of their version; what begins with a letter is text under the same type.
        case (_, "application/octet-stream"), (_, nil): (call.request.body.first ?? 0) < 0x20 ? .raw : .base64
        case (_, "text/plain"): .base64
        case (_, "application/x-www-form-urlencoded"): .form
        case (_, "application/json"): .json
        case (_, let type): throw .mediaType(type)
        }
    }

    private static func message(in dialect: Dialect, _ call: ServiceCall) throws(LicenseRefusal) -> Message {
        switch dialect {
        case .raw: return Message(spc: try call.rawSPC())
        case .base64:
            return Message(spc: try call.base64(String(decoding: call.request.body, as: UTF8.self), in: "body"))
        case .form:
            let form = try call.form()
            return Message(spc: try call.spc(in: form), asset: form["assetId"])
        case .json:
            let body = try call.json()
            return Message(spc: try call.spc(in: body), asset: body["assetId"]?.text)
        }
    }
}
