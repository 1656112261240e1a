import Foundation
package import LatchkeyCore
package import LatchkeyDecision
import LatchkeyFairPlay
package import LatchkeyHTTP
package import LatchkeyVendorWire

/// BuyDRM's KeyOS, whose token is a signed XML. Source: `Documentation/Vendors/KeyOS.md`.
package struct KeyOSService: VendorAPIService {
    package let environment: ServiceEnvironment
    /// The RSA private key, PKCS#8 or PKCS#1 in PEM, that signs authentications. Defaults to `nil`: any signature. An invalid key accepts
    /// none.
    package var signingKey: Secret? {
        didSet { key = signingKey.flatMap { $0.withUnsafeBytes { RSAPrivateKey(pem: Array($0)) } } }
    }
    /// The wire. Its RSA public key's identifier is that of authentications, too.
    package var api = KeyOSAPI()
    private var key: RSAPrivateKey?

    /// - Parameter environment: the service's dependencies.
    package init(_ environment: ServiceEnvironment) { self.environment = environment }

    package var redaction: Redaction { Redaction(headers: Set(KeyOSAPI.tokenFields.map(\.rawValue))) }

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
    package func certificate(_ call: ServiceCall) throws(LicenseRefusal) -> HTTPResponse {
        if let token = KeyOSAPI.token(in: call.request) { _ = try authentication(token, call) }
        return try api.certificate(try call.certificate(), for: call)
    }

    package func grant(
        _ token: String?, _ question: LicenseQuestion, _ call: ServiceCall
    ) throws(LicenseRefusal) -> VendorGrant {
        var grant = question.grant
        grant.terms = try authentication(token, call).terms
        return grant
    }

    /// The public key of the demonstration.
    private var demoKeyID: String { api.publicKeyID ?? "0123456789abcdef0123456789abcdef" }

    private func authentication(
        _ text: String?, _ call: ServiceCall
    ) throws(LicenseRefusal) -> KeyOSAuthentication {
        guard let text, !text.isEmpty else { throw .tokenMissing("the header x-keyos-authorization") }
        let bytes = try call.base64(text, in: "x-keyos-authorization")
        guard key != nil || signingKey == nil else {
            throw .malformed("The service's signing key is not an RSA private key in PEM.")
        }
        let authentication = try KeyOSAuthentication(bytes, key: key, date: environment.time.date)
        if demoKeyID.lowercased() != authentication.publicKeyID.lowercased() {
            try call.breach(of: KeyOSAPI.publicKey, "The authentication is for another public key.")
        }
        return authentication
    }

    private static func text(_ date: Date) -> String {
        let text = date.formatted(.iso8601)
        return "\(text.prefix(10)) \(text.dropFirst(11).prefix(8)).000"
    }
}
