import LatchkeyFairPlay
import LatchkeyPolicy

/// A refusal as ExpressPlay numbers it.
///
/// Source: `Documentation/Vendors/ExpressPlay.md`, errors.
struct ExpressPlayError {
    /// A negative number.
    let code: Int
    let status: Int

    init(_ refusal: LicenseRefusal) {
        switch refusal.kind {
        case .vendor(let code, _): self.code = Int(code) ?? 0
        case .tokenMissing: code = -2017
        case .tokenMalformed, .tokenSignature, .tokenUsed: code = -2018
        case .tokenExpired, .tokenNotYetValid: code = -4010
        case .unknownKey, .ambiguousKey: code = -4018
        case .unknownTenant: code = -2031
        case .notCovered, .contentMismatch, .policy: code = -6006
        case .spc: code = -6004
        case .method, .mediaType, .malformedRequest, .sessionLimit, .overloaded: code = -6001
        }
        status = refusal.status
    }
}
