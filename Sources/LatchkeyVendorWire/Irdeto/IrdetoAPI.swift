package import Foundation
import LatchkeyCore
package import LatchkeyDecision
package import LatchkeyHTTP

/// Irdeto Control's wire: URLs name customer, content and key. Source: `Documentation/Vendors/Irdeto.md`.
package struct IrdetoAPI: VendorAPI {
    package static let name: VendorAPIName = "irdeto"
    /// The customer in the paths; `nil` accepts any.
    package var customer: String?
    /// The `applicationId` of certificate requests; `nil` accepts any.
    package var applicationID: String?

    package init() {}

    package var routes: [Route<VendorEndpoint>] {
        let path = Self.path(customer ?? "{customer}")
        return [.certificate("\(path)/getcertificate"), .license("\(path)/getckc")]
    }

    /// The beginning of a customer's paths.
    package static func path(_ customer: String) -> String { "/licenseServer/streaming/v1/\(customer)" }

    package func certificate(
        _ certificate: Data, for call: some VendorRequest
    ) throws(LicenseRefusal) -> HTTPResponse {
        guard let sent = call.request.queryValue("applicationId"), !sent.isEmpty else {
            throw .malformed("The query has no “applicationId”.")
        }
        guard applicationID.map({ $0 == sent }) ?? true else {
            throw .unknownTenant("There is no application “\(sent.prefix(80))”.")
        }
        return .octets(certificate)
    }

    package func licenseRequest(_ call: some VendorRequest) throws(LicenseRefusal) -> LicenseQuestion {
        let token = try call.bearerToken()
        let content = call.request.queryValue("contentId")
        let key = RequestedKey.named(try keyName(call, content)) { identifier in
            // Either the content alone, which may have several keys, or the whole key URI.
            guard let text = identifier.text, text != content else { return nil }
            let uri = KeyURI(text)
            return uri.queryValue("keyId") ?? uri.queryValue("contentId") ?? text
        }
        return LicenseQuestion(spc: try call.rawSPC(), key: key, token: token)
    }

    /// The URL's `keyId`, otherwise its `contentId`.
    private func keyName(_ call: some VendorRequest, _ content: String?) throws(LicenseRefusal) -> String {
        if let text = call.request.queryValue("keyId") {
            guard let id = KeyID(text) else { throw .malformed("The “keyId” is not a GUID.") }
            return id.description
        }
        guard let content, !content.isEmpty else { throw .malformed("The query has neither “keyId” nor “contentId”.") }
        return content
    }
}
