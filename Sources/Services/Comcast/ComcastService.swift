import Foundation
public import LatchkeyCore
public import LatchkeyHTTP
public import LatchkeyServer

/// Comcast's thePlatform: licenses as nested JSON, for a token and an account in the query.
///
/// Source: `vendors.md` §19.
public struct ComcastService: VendorService {
    /// What can be set about the service.
    public struct Configuration: Sendable {
        /// The account that the service takes; nil, the default, takes any.
        public var account: String?
        /// The token that the service takes; nil, the default, takes any. Tokens are opaque.
        public var token: Secret?

        /// The defaults.
        public init() {}
    }

    public let identifier: ServiceIdentifier = "comcast"
    public let environment: ServiceEnvironment
    private let configuration: Configuration

    /// The release of the demonstration: the first key, for clients that put nothing but the release into the SPC.
    private var release: String { environment.authority.keys.keys.first?.id.bytes.hexString ?? "latchkey" }

    /// - Parameters:
    ///   - environment: what the service stands on.
    ///   - configuration: account and token.
    public init(_ environment: ServiceEnvironment, configuration: Configuration = Configuration()) {
        self.environment = environment
        self.configuration = configuration
    }

    public func endpoint(of request: HTTPRequest) -> ServiceEndpoint? {
        switch request.path {
        // The vendor publishes no path of the certificate.
        case "/fpls/web/FairPlay/certificate": .certificate
        case "/fpls/web/FairPlay": .license
        default: nil
        }
    }

    public func answer(_ call: ServiceCall) async throws(LicenseRefusal) -> HTTPResponse {
        call.endpoint == .certificate ? try call.certificateFile() : try await license(call)
    }

    public func keyURI(for key: StoredKey, at host: String) -> String { "skd://FairPlay/\(key.id)" }

    public func parameters(at base: String) -> [String: String] {
        [
            "certificateURL": "\(base)/fpls/web/FairPlay/certificate",
            "licenseURL": "\(base)/fpls/web/FairPlay?schema=1.0&form=json",
            "account": configuration.account ?? "latchkey", "releasePid": release,
        ]
    }

    public func demoToken() -> Secret { configuration.token ?? Secret("latchkey-demo-token") }
}

extension ComcastService {
    private func license(_ call: ServiceCall) async throws(LicenseRefusal) -> HTTPResponse {
        try call.require("POST")
        try checkQuery(call)
        guard let body = try call.json()["getFairplayLicense"] else {
            throw .malformed("“getFairplayLicense” is missing.")
        }
        let release = try body.required("releasePid")
        let spc = try call.spc(in: body, "spcMessage")
        let keys = environment.authority.keys
        let question = LicenseQuestion(spc: spc, keyName: nil) { identifier in
            if !identifier.description.contains(release) {
                call.warn("releasePid", "the SPC's content identifier lacks the release")
            }
            return keys.name(in: identifier)
        }
        let ckc = try await call.ckc(for: question).base64EncodedString()
        return .json(["getFairplayLicenseResponse": .object(["ckcResponse": .text(ckc)])])
    }

    private func checkQuery(_ call: ServiceCall) throws(LicenseRefusal) {
        for (name, value) in [("schema", "1.0"), ("form", "json")] where call.request.queryValue(name) != value {
            call.warn("query", "“\(name)” is not “\(value)”")
        }
        let token = try call.token(inQuery: "token")
        guard let account = call.request.queryValue("account"), !account.isEmpty else {
            throw .malformed("The query has no “account”.")
        }
        guard configuration.token.map({ $0 == Secret(token) }) ?? true else {
            throw .tokenMalformed("The token is not the configured one.")
        }
        guard configuration.account.map({ $0 == account }) ?? true else {
            throw .unknownTenant("There is no account “\(account.prefix(80))”.")
        }
    }
}
