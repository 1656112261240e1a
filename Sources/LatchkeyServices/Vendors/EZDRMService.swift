import Foundation
package import LatchkeyCore
import LatchkeyDecision
import LatchkeyHTTP
package import LatchkeyMedia
package import LatchkeyVendorWire

/// EZDRM: raw licenses from a URL that ends in the asset's GUID.
///
/// Source: `Documentation/Vendors/EZDRM.md`.
package struct EZDRMService: VendorService {
    package let identifier: ServiceIdentifier = "ezdrm"
    package let environment: ServiceEnvironment
    /// What the customer's authorization callback expects in the query's `customdata`. Defaults to `nil`: there is no callback.
    package var customData: Secret?
    /// How the CKC is written. The vendor's own form is raw, the default; clients accept the others, too.
    package var ckc = CKCEnvelope.raw

    /// - Parameter environment: what the service needs.
    package init(_ environment: ServiceEnvironment) { self.environment = environment }

    package var routes: [ServiceRoute] {
        [.certificate("/demo/video/eleisure.cer"), .license("/api/licenses/{asset...}", license)]
    }

    package func keyURI(for key: StoredKey, at host: String) -> String { "skd://\(host)/\(identifier)/;\(key.id)" }

    package func parameters(at base: String) -> [String: String] {
        addresses(at: base).merging(["licenseURL": "\(base)/api/licenses"]) { $1 }
    }

    package func demoToken() -> Secret { customData ?? Secret("") }

    private func license(_ call: ServiceCall) async throws(LicenseRefusal) -> HTTPResponse {
        let asset = try asset(call)
        if let customData {
            guard Secret(try call.token(inQuery: "customdata")) == customData else {
                throw .notCovered("The customer's callback does not allow it.")
            }
        }
        let name: @Sendable (ContentIdentifier) -> String? = { $0.text.map(Self.asset) }
        let key = asset.map { RequestedKey.named($0.description, inSPC: name) } ?? .namedInSPC(name)
        return .ckc(try await call.ckc(for: LicenseQuestion(spc: try call.rawSPC(), key: key)), in: ckc)
    }

    /// The GUID at the end of the path, with or without the `;` that some clients keep in front; `nil` for the base URL alone.
    private func asset(_ call: ServiceCall) throws(LicenseRefusal) -> KeyID? {
        var text = call.path["asset"]
        guard !text.isEmpty else {
            call.warn("assetInSPC", "the path names no asset; the SPC's counts")
            return nil
        }
        if text.hasPrefix(";") {
            call.warn("semicolon", "a “;” stands before the asset in the path")
            text.removeFirst()
        }
        guard let id = KeyID(text) else { throw .malformed("The path does not end in an asset's GUID.") }
        return id
    }

    /// The text after the last `;`, or the last path component: the GUID alone, `;` and GUID, and the whole key URI are all in use. A query
    /// or a fragment names no asset.
    private static func asset(_ identifier: String) -> String {
        let path = identifier.utf8.prefix { $0 != UInt8(ascii: "?") && $0 != UInt8(ascii: "#") }
        let parts = path.split { $0 == UInt8(ascii: ";") || $0 == UInt8(ascii: "/") }
        return parts.last.map { String(Substring($0)) } ?? identifier
    }
}
