package import Foundation
package import LatchkeyCore
package import LatchkeyDecision
import LatchkeyForms
package import LatchkeyHTTP

/// A vendor-neutral wire in the four usual dialects, each answered in kind. The token is in `Authorization`, with or without `Bearer `.
///
/// `/raw`, `/base64`, `/form` and `/json` each have one; `/license` chooses it by the `Content-Type`.
///
/// Source: `Documentation/Vendors/Generic.md`.
package struct GenericAPI: VendorAPI {
    package static let name: VendorAPIName = "generic"
    /// How the CKC in the reply to a form is written. Defaults to base64.
    package var formReply = CKCEnvelope.base64

    package init() {}

    package var routes: [Route<VendorEndpoint>] {
        [
            .certificate("/certificate"), .license("/license"), .license("/raw"), .license("/base64"),
            .license("/form"), .license("/json"),
        ]
    }

    package func licenseRequest(_ call: some VendorRequest) throws(LicenseRefusal) -> LicenseQuestion {
        let (spc, asset) = try message(call)
        let sent = call.request.headers[.authorization]
        let token = sent?.lowercased().hasPrefix("bearer ") == true ? sent.map { String($0.dropFirst(7)) } : sent
        return LicenseQuestion(spc: spc, key: asset.map { .anyPart(of: $0) } ?? .namedInSPC, token: token)
    }

    package func reply(_ ckc: Data, on terms: LicenseTerms, to call: some VendorRequest) -> HTTPResponse {
        switch Dialect(call) {
        case .raw, nil: .ckc(ckc, in: .raw)
        case .base64: .ckc(ckc, in: .base64)
        case .form: .ckc(ckc, in: formReply)
        case .json: .ckc(ckc, in: .json)
        }
    }

    private enum Dialect: String {
        case raw, base64, form, json

        /// The dialect of the path, or else of the body's type; `nil` for another type.
        init?(_ call: some VendorRequest) {
            if let named = call.request.path.split(separator: "/").last.flatMap({ Self(rawValue: String($0)) }) {
                self = named
                return
            }
            switch call.request.headers.mediaType {
            // A raw SPC begins with the byte 0 of its version; a letter there means text with the same type.
            case "application/octet-stream", nil: self = (call.request.body.first ?? 0) < 0x20 ? .raw : .base64
            case "text/plain": self = .base64
            case "application/x-www-form-urlencoded": self = .form
            case "application/json": self = .json
            default: return nil
            }
        }
    }

    private func message(_ call: some VendorRequest) throws(LicenseRefusal) -> (spc: Data, asset: String?) {
        switch Dialect(call) {
        case nil: throw .mediaType(call.request.headers.mediaType)
        case .raw: return (try call.rawSPC(), nil)
        case .base64:
            return (try call.base64(String(decoding: call.request.body, as: UTF8.self), in: "body"), nil)
        case .form:
            let form = try call.form()
            return (try call.spc(in: form), form["assetId"])
        case .json:
            let body = try call.json()
            return (try call.spc(in: body), body["assetId"]?.text)
        }
    }
}
