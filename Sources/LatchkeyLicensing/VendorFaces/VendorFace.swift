package import Foundation
package import LatchkeyHTTP
package import LatchkeyPolicy
import LatchkeyVendorWire

/// A vendor's wire on the production server: the envelope is read as the vendor documents it, the tenant's policy decides, and replies have
/// the vendor's form.
///
/// Source: `Documentation/LicenseServer.md` §5.1.
package protocol VendorFace: Sendable {
    /// The name in addresses, logs and metrics.
    var name: VendorFaceName { get }
    /// The vendor's own paths.
    var routes: [Route<VendorEndpoint>] { get }

    /// Reads a license request and checks its token.
    func ask(_ call: VendorFaceCall) throws(LicenseRefusal) -> LicenseDesk.VendorAsk
    /// The reply with a license.
    func reply(_ license: LicenseDesk.License) -> HTTPResponse
    /// The reply with the application certificate.
    /// - Parameter certificate: in DER form.
    func certificate(_ certificate: Data, for call: VendorFaceCall) throws(LicenseRefusal) -> HTTPResponse
    /// The reply with a refusal.
    func reply(to refusal: LicenseRefusal, at endpoint: VendorEndpoint.Kind) -> HTTPResponse
}

/// The vendors whose wire the production server speaks.
package enum VendorFaceName: String, Sendable, Hashable, CaseIterable {
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

/// A request to a vendor's face.
package struct VendorFaceCall: VendorRequest {
    package let request: HTTPRequest
    package let path: PathParameters
    /// What is known of the viewer without the envelope.
    package let viewer: LicenseAsk
    /// Now.
    package let date: Date

    /// Leniency is for clients of the vendor, and nobody reads warnings about each of them.
    package func warn(_ code: String, _ text: String) {}
}

extension VendorFaceCall {
    /// The viewer, with what the key is for.
    func viewer(_ purpose: LicenseAsk.Purpose) -> LicenseAsk {
        var viewer = viewer
        viewer.purpose = purpose
        return viewer
    }
}
