import Foundation
package import LatchkeyCore
package import LatchkeyDecision
import LatchkeyForms
package import LatchkeyHTTP
import LatchkeyVendorWire

/// Kaltura's uDRM: license requests in base64, answered as JSON that states how long the key may be stored. Web players name the key in
/// a header, too. Errors are documents, at the real service with status 200.
///
/// Source: `Documentation/Vendors/Kaltura.md`.
package struct KalturaService: VendorService {
    package let identifier: ServiceIdentifier = "kaltura"
    package let environment: ServiceEnvironment
    /// Whether errors are JSON documents, as the web player's code expects. Defaults to `false`: text with a status.
    package var documentsErrors = false

    /// - Parameter environment: what the service needs.
    package init(_ environment: ServiceEnvironment) { self.environment = environment }

    package var redaction: Redaction { Redaction(queryItems: ["custom_data", "signature"]) }

    // Apps bundle the certificate, and the license URL comes with the media; the vendor publishes no paths.
    package var routes: [ServiceRoute] { [.certificate("/fps/certificate"), .license("/fps/license", license)] }

    package func parameters(at base: String) -> [String: String] {
        addresses(at: base).merging(["certificate": environment.inlineCertificate]) { $1 }
    }

    package func reply(to refusal: LicenseRefusal, of call: ServiceCall) -> HTTPResponse {
        guard documentsErrors, call.endpoint == .license else { return .plain(refusal) }
        return .json([
            "message": .text("\(refusal.code) error: \(refusal.reason)"),
            "status_code": .number(Double(refusal.status)),
        ])
    }

    private func license(_ call: ServiceCall) async throws(LicenseRefusal) -> HTTPResponse {
        let spc = try call.base64(String(decoding: try body(of: call), as: UTF8.self), in: "body")
        let key = try initData(of: call).map { environment.key(named: $0) } ?? .namedInSPC
        let license = try await call.license(for: LicenseQuestion(spc: spc, key: key))
        return .json([
            "ckc": .text(call.ckc(of: license).base64EncodedString()),
            "persistence_duration": .number(Self.persistence(license.terms)),
        ])
    }

    /// The web player declares the base64 as JSON.
    private func body(of call: ServiceCall) throws(LicenseRefusal) -> Data {
        call.request.headers.mediaType == "application/json" ? call.request.body : try call.rawSPC()
    }

    /// The key that a web player names in a header; `nil` for other players.
    private func initData(of call: ServiceCall) throws(LicenseRefusal) -> String? {
        guard let header = call.request.headers["X-Kaltura-InitData"] else { return nil }
        return String(decoding: try call.base64(header, in: "X-Kaltura-InitData"), as: UTF8.self)
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
