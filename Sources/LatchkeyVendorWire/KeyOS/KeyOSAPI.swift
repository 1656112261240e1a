import Foundation
import LatchkeyCore
package import LatchkeyDecision
package import LatchkeyHTTP

/// The wire of BuyDRM's KeyOS: forms, with a token in a header field. Source: `Documentation/Vendors/KeyOS.md`.
package struct KeyOSAPI: VendorAPI {
    package static let name: VendorAPIName = "keyos"
    package static let tokenFields: [HTTPHeaderName] = ["x-keyos-authorization", "customdata"]
    /// The RSA public key's identifier, 32 hexadecimal digits, in the certificate's path; `nil` accepts any.
    package var publicKeyID: String?
    /// How the CKC is written. Defaults to base64.
    package var ckc = CKCEnvelope.base64

    package init() {}

    package var routes: [Route<VendorEndpoint>] {
        [.certificate("/cert/{id}.der").when { isKnown($0["id"]) }, .license("/getkey")]
    }

    package func licenseRequest(_ call: some VendorRequest) throws(LicenseRefusal) -> LicenseQuestion {
        let form = try call.form()
        let spc = try call.spc(in: form)
        let asset = try form.required("assetId")
        let key = RequestedKey.named(Self.name(asset)) { $0.text.map(Self.name) }
        return LicenseQuestion(spc: spc, key: key, token: Self.token(in: call.request))
    }

    /// The token of a request; `nil` without a header field for it.
    package static func token(in request: HTTPRequest) -> String? {
        tokenFields.lazy.compactMap { request.headers[$0] }.first
    }

    package static let publicKey = VendorRule(
        "publicKey", .unknownTenant, "T1", "A token's `RSAPubKeyId` is the certificate's name.")
    package static let rules = [publicKey]

    private func isKnown(_ id: String) -> Bool {
        Data(hexString: id)?.count == 16 && publicKeyID.map { $0.lowercased() == id.lowercased() } ?? true
    }

    /// The text after `skd://`. The iOS sample keeps the scheme in the SPC.
    private static func name(_ identifier: String) -> String { KeyURI(identifier).remainder }
}
