public import Foundation
public import LatchkeyCore
public import LatchkeyHTTP
public import LatchkeyServer

/// castLabs' DRMtoday: licenses for form requests, results in header fields.
///
/// Source: `vendors.md` §12.
public struct DRMtodayService: VendorService {
    /// What can be set about the service.
    public struct Configuration: Sendable {
        /// The customer; nil, the default, takes any.
        public var merchant: String?
        /// The key that tokens have to be signed with, HS512, at most 64 bytes; nil, the default, takes any signature.
        public var signingKey: Secret?
        /// Whether a token is good for one license only. Default false.
        public var tokensAreSingleUse = false
        /// How the CKC is written. Default bare.
        public var ckc = CKCText.bare

        /// The defaults.
        public init() {}
    }

    public let identifier: ServiceIdentifier = "drmtoday"
    public let environment: ServiceEnvironment
    private let configuration: Configuration
    private let used = UsedTokens()

    /// - Parameters:
    ///   - environment: what the service stands on.
    ///   - configuration: merchant and token rules.
    public init(_ environment: ServiceEnvironment, configuration: Configuration = Configuration()) {
        self.environment = environment
        self.configuration = configuration
    }

    public var redaction: Redaction {
        Redaction(headers: ["x-dt-custom-data", "dt-custom-data", "x-dt-auth-token"])
    }

    public func endpoint(of request: HTTPRequest) -> ServiceEndpoint? {
        switch request.path.split(separator: "/").map(String.init) {
        case ["license-server-fairplay"]: .license
        case ["license-server-fairplay", "cert"]: .certificate
        case let path where path.count == 3 && path[0] == "license-server-fairplay" && path[1] == "cert": .certificate
        default: nil
        }
    }

    public func answer(_ call: ServiceCall) async throws(LicenseRefusal) -> HTTPResponse {
        var response = call.endpoint == .certificate ? try certificate(call) : try await license(call)
        response.headers["x-dt-resp-code"] = "0"
        return response
    }

    public func keyURI(for key: StoredKey, at host: String) -> String {
        "skd://drmtoday?assetId=\(key.id)&variantId=&keyId=\(key.id.bytes.hexString)&keyRotationId=0"
    }

    public func parameters(at base: String) -> [String: String] {
        [
            "certificateURL": "\(base)/license-server-fairplay/cert/\(merchant)",
            "licenseURL": "\(base)/license-server-fairplay/", "merchant": merchant, "userId": "demo-user",
            "sessionId": "demo-session",
        ]
    }

    public func demoToken() -> Secret { token() }

    /// A token for any asset.
    /// - Parameters:
    ///   - right: a JSON object with members of the token's one right in place of the usual.
    ///   - number: the `jti`; a new one unless given.
    public func token(right: String = "{}", number: String = UUID().uuidString) -> Secret {
        var members: [String: JSONValue] = [
            "accountingId": .text("latchkey"), "profile": .object(["purchase": .object([:])]),
            "storeLicense": .flag(true),
        ]
        if case .object(let stated) = JSONValue(Data(right.utf8)) { members.merge(stated) { $1 } }
        let options = #"{"userId":"demo-user","merchant":"\#(merchant)","sessionId":"demo-session"}"#
        let rights = (try? JSONEncoder().encode([JSONValue.object(members)])) ?? Data()
        let claims: [String: JSONValue] = [
            "crt": .text(String(decoding: rights, as: UTF8.self)), "optData": .text(options), "jti": .text(number),
            "iat": .number(environment.time.date.timeIntervalSince1970.rounded()),
        ]
        return Secret(JSONWebToken.text(claims: .object(claims), key: configuration.signingKey, algorithm: "HS512"))
    }

    /// An error status with `x-dt-resp-code` and `x-dt-error-message`.
    public func reply(to refusal: LicenseRefusal, of call: ServiceCall) -> HTTPResponse {
        let code = Self.code(refusal)
        let message = code == "20101" ? "not_granted" : refusal.code
        return HTTPResponse(
            status: refusal.status,
            headers: [
                "Content-Type": "text/plain; charset=utf-8", "x-dt-resp-code": code, "x-dt-error-message": message,
            ], body: .bytes(Data(refusal.reason.utf8)))
    }
}

extension DRMtodayService {
    private var merchant: String { configuration.merchant ?? "latchkey" }

    private func certificate(_ call: ServiceCall) throws(LicenseRefusal) -> HTTPResponse {
        try call.require("GET", "HEAD")
        let path = call.request.path.split(separator: "/")
        // Without a merchant in the path, the license's credentials say whose certificate it is.
        if path.count == 3 { try checkMerchant(String(path[2])) } else { _ = try credentials(call) }
        return .octets(try call.certificate())
    }

    private func license(_ call: ServiceCall) async throws(LicenseRefusal) -> HTTPResponse {
        try call.require("POST")
        let token = try credentials(call)
        let form = try call.form()
        let spc = try call.spc(in: form)
        let isOffline = (call.request.queryValue("offline") ?? form["offline"]) == "true"
        guard !isOffline || token?.storesLicenses != false else {
            throw .notCovered("The token does not let licenses be stored.")
        }
        if let token, configuration.tokensAreSingleUse, !used.add(Secret(token.number)) {
            throw .tokenUsed
        }
        // The form's values win over those of the SPC.
        var question = LicenseQuestion(
            spc: spc, keyName: form["keyId"] ?? form["assetId"], terms: isOffline ? LicenseTerms(.persistent) : nil
        ) { identifier in DRMtodayAsset(identifier).keyName }
        question.objection = { _, identifier in
            let asset = DRMtodayAsset(identifier)
            return token?.objection(
                toAsset: form["assetId"] ?? asset.assetID, variant: form["variantId"] ?? asset.variantID)
        }
        return .ckc(try await call.ckc(for: question), as: configuration.ckc)
    }

    /// Checks what of custom data and token is sent; at least one is.
    private func credentials(_ call: ServiceCall) throws(LicenseRefusal) -> DRMtodayToken? {
        let headers = call.request.headers
        let token = headers["x-dt-auth-token"].flatMap { $0.isEmpty ? nil : $0 }
        let custom = headers["x-dt-custom-data"] ?? headers["dt-custom-data"]
        guard token != nil || custom?.isEmpty == false else {
            throw .tokenMissing("the headers x-dt-auth-token and x-dt-custom-data")
        }
        if let custom, !custom.isEmpty { try checkCustomData(custom, call) }
        guard let token else { return nil }
        let checked = try DRMtodayToken(token, key: configuration.signingKey, date: environment.time.date)
        try checkMerchant(checked.merchant)
        return checked
    }

    private func checkCustomData(_ text: String, _ call: ServiceCall) throws(LicenseRefusal) {
        let data = JSONValue(try call.base64(text, in: "x-dt-custom-data"))
        for name in ["userId", "sessionId", "merchant"] where data?[name]?.text == nil {
            throw .tokenMalformed("The custom data have no “\(name)”.")
        }
        try checkMerchant(data?["merchant"]?.text ?? "")
    }

    private func checkMerchant(_ name: String) throws(LicenseRefusal) {
        guard configuration.merchant.map({ $0 == name }) ?? !name.isEmpty else {
            throw .unknownTenant("There is no such merchant.")
        }
    }

    private static func code(_ refusal: LicenseRefusal) -> String {
        switch refusal.kind {
        case .vendor(let code, _): code
        case .malformedRequest, .method, .mediaType: "10001"
        case .notCovered: "20101"
        case .tokenMissing, .tokenMalformed, .tokenExpired, .tokenNotYetValid, .tokenSignature, .tokenUsed,
            .unknownTenant:
            "3000"
        case .contentMismatch, .unknownKey, .ambiguousKey: "30000"
        case .spc: "43000"
        case .sessionLimit: "60100"
        case .overloaded: "1000"
        }
    }
}
