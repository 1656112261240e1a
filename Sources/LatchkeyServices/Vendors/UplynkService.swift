import Foundation
import LatchkeyCore
import LatchkeyDecision
import LatchkeyForms
import LatchkeyHTTP
package import LatchkeyMedia
import LatchkeyVendorWire

/// Uplynk: licenses as JSON, from the URL that is the key URI with another scheme.
///
/// Requests carry no credentials other than the signed key URI, which only Uplynk can read.
///
/// Source: `Documentation/Vendors/Uplynk.md`.
package struct UplynkService: VendorService {
    package let identifier: ServiceIdentifier = "uplynk"
    package let environment: ServiceEnvironment
    /// The owner in the certificate's path. Defaults to `nil`: any.
    package var owner: String?

    /// - Parameter environment: what the service needs.
    package init(_ environment: ServiceEnvironment) { self.environment = environment }

    package var routes: [ServiceRoute] {
        [
            .certificate("/fairplay/public_key/\(owner ?? "{owner}").cer"),
            // The vendor publishes no path for licenses; clients take it from the key URI.
            .license("/fairplay/ksm", license),
        ]
    }

    package func keyURI(for key: StoredKey, at host: String) -> String {
        // As the vendor's: first the asset, third the ID under which a playback is logged.
        "skd://\(host)/\(identifier)/fairplay/ksm?b=\(key.id.bytes.hexString)&v=1&ray=latchkey"
    }

    package func parameters(at base: String) -> [String: String] {
        ["certificateURL": "\(base)/fairplay/public_key/\(owner ?? "demo").cer"]
    }

    private func license(_ call: ServiceCall) async throws(LicenseRefusal) -> HTTPResponse {
        let asset = try asset(call)
        let body = try call.json()
        let spc = try call.spc(in: body)
        if let stated = body["assetId"]?.text, stated != asset {
            throw .malformed("“assetId” is not the asset of the URL.")
        }
        return .ckc(try await call.ckc(for: LicenseQuestion(spc: spc, key: .named(asset))), in: .json)
    }

    /// The query's `b`, otherwise its first item, as the vendor's own samples read it.
    private func asset(_ call: ServiceCall) throws(LicenseRefusal) -> String {
        if let asset = call.request.queryValue("b"), !asset.isEmpty { return asset }
        guard let first = call.request.queryItems.first?.value, !first.isEmpty else {
            throw .malformed("The query names no asset.")
        }
        call.warn("assetItem", "the asset stands in another query item than “b”")
        return first
    }
}
