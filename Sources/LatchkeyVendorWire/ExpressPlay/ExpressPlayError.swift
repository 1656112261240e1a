package import LatchkeyDecision
import LatchkeyFairPlay

/// A refusal as ExpressPlay numbers it.
///
/// The page gives the statuses by kind: 400 for arguments, 401 for authentication, 404 for the URL, 5xx. Each code's status is inferred.
///
/// Source: `Documentation/Vendors/ExpressPlay.md`, errors.
package struct ExpressPlayError {
    /// A negative number.
    package let code: Int
    package let status: Int
    /// Whether the customer or the device is refused, not the request.
    package var isDenial: Bool { status == 401 || Self.denials.contains(code) }

    /// - Parameter isOfLicense: whether a license is refused. The token service speaks of its authenticator otherwise.
    package init(_ refusal: LicenseRefusal, isOfLicense: Bool) {
        switch refusal.kind {
        case .vendor(let code, _): self.code = Int(code) ?? 0
        case .tokenMissing: code = isOfLicense ? -4010 : -2017
        case .tokenMalformed, .tokenSignature, .tokenUsed: code = isOfLicense ? -4010 : -2018
        case .tokenExpired, .tokenNotYetValid: code = -4010
        case .unknownKey, .ambiguousKey: code = -4018
        case .unknownTenant: code = -2031
        case .notCovered, .contentMismatch, .policy: code = -6006
        case .spc: code = -6004
        case .method, .mediaType, .malformedRequest, .sessionLimit, .overloaded: code = -6001
        }
        switch refusal.kind {
        case .method, .mediaType, .overloaded, .spc, .vendor: status = refusal.status
        default: status = Self.status(of: code)
        }
    }

    /// The status of a code.
    package static func status(of code: Int) -> Int {
        switch code {
        case -2017, -2018, -2031, -4001, -4010, -6006: 401
        case -6004: 500
        default: 400
        }
    }

    private static let denials: Set = [-2003, -2019, -4018, -6008, -6009]
}
