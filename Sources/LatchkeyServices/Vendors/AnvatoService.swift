import Foundation
import LatchkeyCore
package import LatchkeyDecision
import LatchkeyForms
package import LatchkeyHTTP
import LatchkeyVendorWire

/// Anvato: licenses as JSON, and errors with a DRM code in their message.
///
/// Source: `Documentation/Vendors/Anvato.md`.
package struct AnvatoService: VendorService {
    package let identifier: ServiceIdentifier = "anvato"
    package let environment: ServiceEnvironment

    /// - Parameter environment: what the service needs.
    package init(_ environment: ServiceEnvironment) { self.environment = environment }

    // The vendor publishes no paths.
    package var routes: [ServiceRoute] {
        [.certificate("/rest/fairplay/certificate"), .license("/rest/fairplay/license", license)]
    }

    private func license(_ call: ServiceCall) async throws(LicenseRefusal) -> HTTPResponse {
        let body = try call.json()
        let spc = try call.spc(in: body)
        let key = environment.key(named: try body.required("assetid"))
        return .ckc(try await call.ckc(for: LicenseQuestion(spc: spc, key: key)), in: .json)
    }

    package func reply(to refusal: LicenseRefusal, of call: ServiceCall) -> HTTPResponse {
        // No DRM code is public. A fault may name one; otherwise the status stands in its place.
        var drmCode = "\(refusal.status)"
        if case .vendor(let code, _) = refusal.kind { drmCode = code }
        let error: [String: JSONValue] = [
            "code": .number(Double(refusal.status)), "status": .text(Self.name(of: refusal.status)),
            "message": .text("\(refusal.reason) drmErrorCode: \(drmCode) "),
        ]
        return .json(["error": .object(error)], status: refusal.status)
    }

    /// The names of statuses in Google's services, whose error shape this is.
    private static func name(of status: Int) -> String {
        switch status {
        case 401: "UNAUTHENTICATED"
        case 403: "PERMISSION_DENIED"
        case 404: "NOT_FOUND"
        case 500...: "UNAVAILABLE"
        default: "INVALID_ARGUMENT"
        }
    }
}
