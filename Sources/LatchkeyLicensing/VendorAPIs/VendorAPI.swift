package import Foundation
package import LatchkeyDecision
package import LatchkeyHTTP
import LatchkeyVendorWire

/// A vendor's wire on the production server: the envelope is read as the vendor documents it, the tenant's policy decides, and replies have
/// the vendor's form.
///
/// Source: `Documentation/LicenseServer.md` §5.1.
package protocol VendorAPI: Sendable {
    /// The name in addresses, logs and metrics.
    var name: VendorAPIName { get }
    /// The vendor's own paths.
    var routes: [Route<VendorEndpoint>] { get }

    /// Reads a license request and checks its token.
    func licenseRequest(_ call: VendorAPICall) throws(LicenseRefusal) -> LicenseIssuer.VendorLicenseRequest
    /// The reply with a license.
    func reply(_ license: LicenseIssuer.License) -> HTTPResponse
    /// The reply with the application certificate.
    /// - Parameter certificate: in DER form.
    func certificate(_ certificate: Data, for call: VendorAPICall) throws(LicenseRefusal) -> HTTPResponse
    /// The reply with a refusal.
    func reply(to refusal: LicenseRefusal, at endpoint: VendorEndpoint.Kind) -> HTTPResponse
}

/// The vendors whose wire the production server speaks.
package enum VendorAPIName: String, Sendable, Hashable, CaseIterable {
    case vuDRM = "vudrm"
    case axinom
    case doveRunner = "doverunner"
    case drmToday = "drmtoday"

    /// The header fields in which the vendor's players send their tokens.
    package var tokenFields: [HTTPHeaderName] {
        switch self {
        case .vuDRM: [VuDRMForm.tokenField]
        case .axinom: [HTTPHeaderName(AxinomMessage.field)]
        case .doveRunner: [HTTPHeaderName(DoveRunnerToken.field)]
        case .drmToday: [DRMtodayToken.field, DRMtodayToken.customDataField]
        }
    }
}

/// What a path of a vendor's is for.
package struct VendorEndpoint: Sendable {
    package enum Kind: String, Sendable {
        case certificate
        case license
    }

    package let kind: Kind

    /// A path with the certificate.
    static func certificate(_ path: PathPattern) -> Route<VendorEndpoint> {
        Route([.get, .head], path, VendorEndpoint(kind: .certificate))
    }

    /// A path for licenses.
    static func license(_ path: PathPattern) -> Route<VendorEndpoint> {
        Route([.post], path, VendorEndpoint(kind: .license))
    }
}

/// A request to a vendor's API.
package struct VendorAPICall: VendorRequest {
    package let request: HTTPRequest
    package let path: PathParameters
    /// What is known of the viewer without the envelope.
    package let viewer: LicenseRequestFacts
    /// Now.
    package let date: Date

    /// Leniency is for clients of the vendor, and nobody reads warnings about each of them.
    package func warn(_ code: String, _ text: String) {}
}

extension VendorAPICall {
    /// The viewer, with what the key is for.
    func viewer(_ purpose: LicenseRequestFacts.Purpose) -> LicenseRequestFacts {
        var viewer = viewer
        viewer.purpose = purpose
        return viewer
    }
}
