import Foundation
package import LatchkeyCore
import LatchkeyDecision
import LatchkeyHTTP
package import LatchkeyMedia
import LatchkeyVendorWire

/// Irdeto Control: raw licenses from a URL that names customer, content and key.
///
/// Source: `Documentation/Vendors/Irdeto.md`.
package struct IrdetoService: SignedTokenService {
    package let identifier: ServiceIdentifier = "irdeto"
    package let environment: ServiceEnvironment
    /// The customer in the paths. Defaults to `nil`: any.
    package var customer: String?
    /// The `applicationId` of certificate requests. Defaults to `nil`: any.
    package var applicationID: String?
    /// Whether a license needs a token. Defaults to `false`; a token that is sent is checked all the same.
    package var requiresToken = false
    /// The key that signs tokens, HS256, at most 64 bytes. Defaults to `nil`: any.
    package var signingKey: Secret?

    /// - Parameter environment: what the service needs.
    package init(_ environment: ServiceEnvironment) { self.environment = environment }

    package var routes: [ServiceRoute] {
        let path = Self.path(customer ?? "{customer}")
        return [.certificate("\(path)/getcertificate", certificate), .license("\(path)/getckc", license)]
    }

    package func keyURI(for key: StoredKey, at host: String) -> String {
        "skd://\(host)/\(identifier)\(Self.path(customer ?? "DEMO"))/getckc?contentId=\(key.id)&keyId=\(key.id)"
    }

    package func parameters(at base: String) -> [String: String] {
        let (path, application) = (Self.path(customer ?? "DEMO"), applicationID ?? "latchkey")
        return [
            "certificateURL": "\(base)\(path)/getcertificate?applicationId=\(application)",
            "licenseURL": "\(base)\(path)/getckc", "applicationId": application,
        ]
    }

    private static func path(_ customer: String) -> String { "/licenseServer/streaming/v1/\(customer)" }
}

extension IrdetoService {
    private func certificate(_ call: ServiceCall) throws(LicenseRefusal) -> HTTPResponse {
        guard let sent = call.request.queryValue("applicationId"), !sent.isEmpty else {
            throw .malformed("The query has no “applicationId”.")
        }
        guard applicationID.map({ $0 == sent }) ?? true else {
            throw .unknownTenant("There is no application “\(sent.prefix(80))”.")
        }
        return try call.certificateFile()
    }

    private func license(_ call: ServiceCall) async throws(LicenseRefusal) -> HTTPResponse {
        try checkToken(call)
        let content = call.request.queryValue("contentId")
        let key = RequestedKey.named(try keyName(call, content)) { identifier in
            // Either the content alone, which may have several keys, or the whole key URI.
            guard let text = identifier.text, text != content else { return nil }
            let uri = KeyURI(text)
            return uri.queryValue("keyId") ?? uri.queryValue("contentId") ?? text
        }
        return .octets(try await call.ckc(for: LicenseQuestion(spc: try call.rawSPC(), key: key)))
    }

    /// The URL's `keyId`, otherwise its `contentId`.
    private func keyName(_ call: ServiceCall, _ content: String?) throws(LicenseRefusal) -> String {
        if let text = call.request.queryValue("keyId") {
            guard let id = KeyID(text) else { throw .malformed("The “keyId” is not a GUID.") }
            return id.description
        }
        guard let content, !content.isEmpty else { throw .malformed("The query has neither “keyId” nor “contentId”.") }
        return content
    }

    private func checkToken(_ call: ServiceCall) throws(LicenseRefusal) {
        guard let text = try call.bearerToken() else {
            guard requiresToken else { return }
            throw .tokenMissing("the header Authorization")
        }
        _ = try checked(text, algorithms: ["HS256", "RS256"])
    }
}
