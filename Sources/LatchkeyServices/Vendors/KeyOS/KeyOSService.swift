import Foundation
package import LatchkeyCore
import LatchkeyDecision
import LatchkeyFairPlay
import LatchkeyHTTP
package import LatchkeyVendorWire

/// BuyDRM's KeyOS: licenses for form requests with a signed XML.
///
/// Source: `Documentation/Vendors/KeyOS.md`.
package struct KeyOSService: VendorService {
    package let identifier: ServiceIdentifier = "keyos"
    package let environment: ServiceEnvironment
    /// The RSA public key's identifier, 32 hexadecimal digits, in the certificate's path and in authentications. Defaults to
    /// `nil`: any.
    package var publicKeyID: String?
    /// The RSA private key, PKCS#8 or PKCS#1 in PEM, that signs authentications. Defaults to `nil`: any signature. A text that is no such
    /// key accepts none.
    package var signingKey: Secret? {
        didSet { key = signingKey.flatMap { $0.withUnsafeBytes { RSAPrivateKey(pem: Array($0)) } } }
    }
    /// How the CKC is written. Defaults to base64.
    package var ckc = CKCEnvelope.base64
    private var key: RSAPrivateKey?

    /// - Parameter environment: what the service needs.
    package init(_ environment: ServiceEnvironment) { self.environment = environment }

    package var redaction: Redaction { Redaction(headers: ["x-keyos-authorization", "customdata"]) }

    package var routes: [ServiceRoute] {
        [
            .certificate("/cert/{id}.der", certificate).when { isKnown($0["id"]) },
            .license("/getkey", license),
        ]
    }

    package func parameters(at base: String) -> [String: String] {
        [
            "certificateURL": "\(base)/cert/\(demoKeyID).der", "licenseURL": "\(base)/getkey",
            "header": "x-keyos-authorization",
        ]
    }

    package func demoToken() -> Secret { token() }

    package var tokenKeys: [String: Secret] {
        signingKey.map { ["RSAPubKeyId": Secret(demoKeyID), "privateKey": $0] } ?? [:]
    }

    /// An authentication.
    /// - Parameters:
    ///   - lifetime: how long it is valid. Defaults to the environment's token lifetime, or an hour without one.
    ///   - persistence: the policy's `persistent`. Defaults to `false`.
    package func token(lifetime: Duration? = nil, persistent persistence: String = "false") -> Secret {
        let now = environment.time.date
        let end = lifetime ?? environment.tokenLifetime ?? .seconds(3_600)
        let data = """
            <Data><GenerationTime>\(Self.text(now))</GenerationTime>\
            <ExpirationTime>\(Self.text(now.addingTimeInterval(end.inSeconds)))</ExpirationTime>\
            <UniqueId>\(UUID().uuidString)</UniqueId><RSAPubKeyId>\(demoKeyID)</RSAPubKeyId>\
            <FairPlayPolicy persistent="\(persistence)"/><License type="simple"/></Data>
            """
        let signature = key.flatMap { try? $0.signature(of: Array(data.utf8)) } ?? [0, 0, 0]
        let xml = """
            <KeyOSAuthenticationXML>\(data)\
            <Signature>\(Data(signature).base64EncodedString())</Signature></KeyOSAuthenticationXML>
            """
        return Secret(Data(xml.utf8).base64EncodedString())
    }
}

extension KeyOSService {
    /// The public key of the demonstration.
    private var demoKeyID: String { publicKeyID ?? "0123456789abcdef0123456789abcdef" }

    private func isKnown(_ id: String) -> Bool {
        Data(hexString: id)?.count == 16 && publicKeyID.map { $0.lowercased() == id.lowercased() } ?? true
    }

    private func certificate(_ call: ServiceCall) throws(LicenseRefusal) -> HTTPResponse {
        if Self.header(of: call) != nil { _ = try authentication(call) }
        return .octets(try call.certificate())
    }

    private func license(_ call: ServiceCall) async throws(LicenseRefusal) -> HTTPResponse {
        let authentication = try authentication(call)
        let form = try call.form()
        let spc = try call.spc(in: form)
        let asset = try form.required("assetId")
        let key = RequestedKey.named(Self.name(asset)) { $0.text.map(Self.name) }
        let question = LicenseQuestion(spc: spc, key: key, terms: authentication.terms)
        return .ckc(try await call.ckc(for: question), in: ckc)
    }

    /// The text after `skd://`. The iOS sample keeps the scheme in the SPC.
    private static func name(_ identifier: String) -> String { KeyURI(identifier).remainder }

    private static func header(of call: ServiceCall) -> String? {
        call.request.headers["x-keyos-authorization"] ?? call.request.headers["customdata"]
    }

    private func authentication(_ call: ServiceCall) throws(LicenseRefusal) -> KeyOSAuthentication {
        guard let text = Self.header(of: call), !text.isEmpty else {
            throw .tokenMissing("the header x-keyos-authorization")
        }
        let bytes = try call.base64(text, in: "x-keyos-authorization")
        guard key != nil || signingKey == nil else {
            throw .malformed("The service's signing key is no RSA private key in PEM.")
        }
        let authentication = try KeyOSAuthentication(bytes, key: key, date: environment.time.date)
        if let id = publicKeyID, id.lowercased() != authentication.publicKeyID.lowercased() {
            throw .unknownTenant("The authentication is for another public key.")
        }
        return authentication
    }

    private static func text(_ date: Date) -> String {
        let text = date.formatted(.iso8601)
        return "\(text.prefix(10)) \(text.dropFirst(11).prefix(8)).000"
    }
}
