package import Foundation
package import LatchkeyCore
package import LatchkeyDecision
import LatchkeyForms
package import LatchkeyHTTP

/// Kaltura's wire: license requests in base64, answered as JSON that states how long the key may be stored. Web players name the key in
/// a header, too. Players send no token.
///
/// Source: `Documentation/Vendors/Kaltura.md`.
package struct KalturaAPI: VendorAPI {
    package static let name: VendorAPIName = "kaltura"
    package static let otherFields: [HTTPHeaderName] = ["X-Kaltura-InitData"]
    /// Whether errors are JSON documents with status 200, as the web player's code expects. Defaults to `false`: text with a status.
    package var documentsErrors = false

    package init() {}

    // Apps bundle the certificate, and the license URL comes with the media; the vendor publishes no paths.
    package var routes: [Route<VendorEndpoint>] { [.certificate("/fps/certificate"), .license("/fps/license")] }

    package func licenseRequest(_ call: some VendorRequest) throws(LicenseRefusal) -> LicenseQuestion {
        // The web player declares the base64 as JSON.
        let body = call.request.headers.mediaType == "application/json" ? call.request.body : try call.rawSPC()
        let spc = try call.base64(String(decoding: body, as: UTF8.self), in: "body")
        guard let header = call.request.headers["X-Kaltura-InitData"] else {
            return LicenseQuestion(spc: spc, key: .namedInSPC, token: nil)
        }
        let name = String(decoding: try call.base64(header, in: "X-Kaltura-InitData"), as: UTF8.self)
        return LicenseQuestion(spc: spc, key: .anyPart(of: name), token: nil)
    }

    package func reply(_ ckc: Data, on terms: LicenseTerms, to call: some VendorRequest) -> HTTPResponse {
        .json([
            "ckc": .text(ckc.base64EncodedString()), "persistence_duration": .number(Self.persistence(terms)),
        ])
    }

    package func reply(to refusal: LicenseRefusal, of call: some VendorRequest) -> HTTPResponse {
        guard documentsErrors, call.vendorEndpoint == .license else { return .plain(refusal) }
        return .json([
            "message": .text("\(refusal.code) error: \(refusal.reason)"),
            "status_code": .number(Double(refusal.status)),
        ])
    }

    /// Seconds for which the key may be stored: 0 if it may not, the largest 32-bit number without a limit.
    private static func persistence(_ terms: LicenseTerms) -> Double {
        switch terms.validity {
        case .persistent: Double(UInt32.max)
        case .persistentFor(let duration): duration.inSeconds
        case .dualExpiry(let storage, _): storage.inSeconds
        case .unlimited, .lease, .rental, .leaseAndRental: 0
        }
    }
}
