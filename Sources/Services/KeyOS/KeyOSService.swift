import Foundation
public import LatchkeyCore
public import LatchkeyHTTP
public import LatchkeyServer

/// BuyDRM's KeyOS: licenses for form requests with a signed XML.
///
/// Source: `vendors.md` §11.
public struct KeyOSService: VendorService {
    /// What can be set about the service.
    public struct Configuration: Sendable {
        /// The RSA public key's identifier, 32 hexadecimal digits, in the certificate's path and in authentications; nil, the
        /// default, takes any.
        public var publicKeyID: String?
        /// How the CKC is written. Default bare.
        public var ckc = CKCText.bare

        /// The defaults.
        public init() {}
    }

    public let identifier: ServiceIdentifier = "keyos"
    public let environment: ServiceEnvironment
    private let configuration: Configuration

    /// - Parameters:
    ///   - environment: what the service stands on.
    ///   - configuration: public key and form of the reply.
    public init(_ environment: ServiceEnvironment, configuration: Configuration = Configuration()) {
        self.environment = environment
        self.configuration = configuration
    }

    public var redaction: Redaction { Redaction(headers: ["x-keyos-authorization", "customdata"]) }

    public func endpoint(of request: HTTPRequest) -> ServiceEndpoint? {
        switch request.path {
        case "/getkey", "/getkey/": .license
        case let path where path.hasPrefix("/cert/") && isCertificate(path.dropFirst(6)): .certificate
        default: nil
        }
    }

    public func answer(_ call: ServiceCall) async throws(LicenseRefusal) -> HTTPResponse {
        call.endpoint == .certificate ? try certificate(call) : try await license(call)
    }

    public func keyURI(for key: StoredKey, at host: String) -> String { "skd://\(key.id)" }

    public func parameters(at base: String) -> [String: String] {
        [
            "certificateURL": "\(base)/cert/\(publicKeyID).der", "licenseURL": "\(base)/getkey",
            "header": "x-keyos-authorization",
        ]
    }

    public func demoToken() -> Secret { token() }

    /// An authentication.
    /// - Parameters:
    ///   - lifetime: how long it lasts; an hour unless given.
    ///   - persistence: the policy's `persistent`; false unless given.
    public func token(lifetime: Duration = .seconds(3_600), persistent persistence: String = "false") -> Secret {
        let now = environment.time.date
        let xml = """
            <KeyOSAuthenticationXML><Data><GenerationTime>\(Self.text(now))</GenerationTime>\
            <ExpirationTime>\(Self.text(now.addingTimeInterval(lifetime.inSeconds)))</ExpirationTime>\
            <UniqueId>\(UUID().uuidString)</UniqueId><RSAPubKeyId>\(publicKeyID)</RSAPubKeyId>\
            <FairPlayPolicy persistent="\(persistence)"/><License type="simple"/></Data>\
            <Signature>AAAA</Signature></KeyOSAuthenticationXML>
            """
        return Secret(Data(xml.utf8).base64EncodedString())
    }
}

extension KeyOSService {
    private var publicKeyID: String { configuration.publicKeyID ?? "0123456789abcdef0123456789abcdef" }

    private func isCertificate(_ file: Substring) -> Bool {
        guard file.hasSuffix(".der"), Data(hexString: String(file.dropLast(4)))?.count == 16 else { return false }
        return configuration.publicKeyID.map { $0.lowercased() == file.dropLast(4).lowercased() } ?? true
    }

    private func certificate(_ call: ServiceCall) throws(LicenseRefusal) -> HTTPResponse {
        try call.require("GET", "HEAD")
        if Self.header(of: call) != nil { _ = try authentication(call) }
        return .octets(try call.certificate())
    }

    private func license(_ call: ServiceCall) async throws(LicenseRefusal) -> HTTPResponse {
        try call.require("POST")
        let authentication = try authentication(call)
        let form = try call.form()
        let spc = try call.spc(in: form)
        let asset = try form.required("assetId")
        let question = LicenseQuestion(spc: spc, keyName: Self.name(asset), terms: authentication.terms) { identifier in
            identifier.text.map(Self.name)
        }
        return .ckc(try await call.ckc(for: question), as: configuration.ckc)
    }

    /// What stands behind `skd://`; the iOS sample keeps the scheme in the SPC.
    private static func name(_ identifier: String) -> String { KeyURI(identifier).remainder }

    private static func header(of call: ServiceCall) -> String? {
        call.request.headers["x-keyos-authorization"] ?? call.request.headers["customdata"]
    }

    private func authentication(_ call: ServiceCall) throws(LicenseRefusal) -> KeyOSAuthentication {
        guard let text = Self.header(of: call), !text.isEmpty else {
            throw .tokenMissing("the header x-keyos-authorization")
        }
        let bytes = try call.base64(text, in: "x-keyos-authorization")
        let authentication = try KeyOSAuthentication(bytes, date: environment.time.date)
        if let id = configuration.publicKeyID, id.lowercased() != authentication.publicKeyID.lowercased() {
            throw .unknownTenant("The authentication is for another public key.")
        }
        return authentication
    }

    private static func text(_ date: Date) -> String {
        let text = date.formatted(.iso8601)
        return "\(text.prefix(10)) \(text.dropFirst(11).prefix(8)).000"
    }
}
