package import Foundation
package import LatchkeyDecision
package import LatchkeyHTTP

/// A vendor's wire: the envelopes of requests are read, and replies written, as the vendor documents them.
///
/// The license server mounts it with the tenant's policy, an emulated service with faults and a journal.
///
/// Source: `Documentation/LicenseServer.md` §5.1.
package protocol VendorAPI: Sendable {
    /// The name in addresses, logs and metrics.
    var name: VendorAPIName { get }
    /// The vendor's own paths.
    var routes: [Route<VendorEndpoint>] { get }

    /// Reads a license request and checks its token.
    func licenseRequest(_ call: some VendorRequest) throws(LicenseRefusal) -> LicenseQuestion
    /// The reply with a license.
    func reply(_ ckc: Data) -> HTTPResponse
    /// The reply with the application certificate.
    /// - Parameter certificate: in DER form.
    func certificate(_ certificate: Data, for call: some VendorRequest) throws(LicenseRefusal) -> HTTPResponse
    /// The reply with a refusal.
    func reply(to refusal: LicenseRefusal, at endpoint: VendorEndpoint) -> HTTPResponse
}

/// The vendors whose wire the license server speaks.
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
package enum VendorEndpoint: String, Sendable {
    case certificate
    case license
}

extension Route<VendorEndpoint> {
    /// A path with the certificate.
    static func certificate(_ path: PathPattern) -> Self { Route([.get, .head], path, .certificate) }

    /// A path for licenses.
    static func license(_ path: PathPattern) -> Self { Route([.post], path, .license) }
}
