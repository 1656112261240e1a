package import Foundation
package import LatchkeyCore
package import LatchkeyDecision
package import LatchkeyHTTP

/// A vendor's wire: reads the envelopes of requests and writes replies as the vendor documents them.
///
/// The license server mounts it with the tenant's policy, an emulated service with faults and a journal.
///
/// Source: `Documentation/LicenseServer.md` §5.1.
package protocol VendorAPI: Sendable {
    /// The name in addresses, logs and metrics.
    static var name: VendorAPIName { get }
    /// The header fields in which the vendor's players send their tokens, other than `Authorization`. Defaults to none.
    static var tokenFields: [HTTPHeaderName] { get }
    /// The other vendor-specific header fields that players in web pages send. Defaults to none.
    static var otherFields: [HTTPHeaderName] { get }
    /// The restrictions on the vendor's page. Defaults to none.
    static var rules: [VendorRule] { get }
    /// How the CKC is written. Defaults to raw.
    var ckc: CKCEnvelope { get }
    /// The vendor's own paths.
    var routes: [Route<VendorEndpoint>] { get }

    /// Reads a license request, and checks its token if the vendor's customers can make their own tokens.
    func licenseRequest(_ call: some VendorRequest) throws(LicenseRefusal) -> LicenseQuestion
    /// The reply with a license. Defaults to the CKC in its envelope.
    func reply(_ ckc: Data, on terms: LicenseTerms, to call: some VendorRequest) -> HTTPResponse
    /// The reply with the application certificate. Defaults to the certificate in DER form.
    /// - Parameter certificate: in DER form.
    func certificate(_ certificate: Data, for call: some VendorRequest) throws(LicenseRefusal) -> HTTPResponse
    /// The reply with a refusal. Defaults to status and plain text.
    func reply(to refusal: LicenseRefusal, of call: some VendorRequest) -> HTTPResponse
}

extension VendorAPI {
    package static var tokenFields: [HTTPHeaderName] { [] }

    package static var otherFields: [HTTPHeaderName] { [] }

    package static var rules: [VendorRule] { [] }

    package var ckc: CKCEnvelope { .raw }

    package func reply(_ ckc: Data, on terms: LicenseTerms, to call: some VendorRequest) -> HTTPResponse {
        .ckc(ckc, in: self.ckc)
    }

    package func certificate(
        _ certificate: Data, for call: some VendorRequest
    ) throws(LicenseRefusal) -> HTTPResponse { .octets(certificate) }

    package func reply(to refusal: LicenseRefusal, of call: some VendorRequest) -> HTTPResponse { .plain(refusal) }
}

/// A vendor's name in addresses, settings, logs and metrics.
package struct VendorAPIName: RawRepresentable, Sendable, Hashable, ExpressibleByStringLiteral {
    package let rawValue: String

    package init(rawValue: String) { self.rawValue = rawValue }

    package init(stringLiteral value: String) { rawValue = value }
}

/// The purpose of a vendor's path.
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
