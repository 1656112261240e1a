import LatchkeyDecision
import LatchkeyFairPlay

/// A refusal with the numbers of NAGRA's services. One number has two meanings: 4001 is a missing token at the license service, and an
/// unavailable service at secure session management (SSM).
///
/// The pages give no status for each number; 400 and 500 are documented for all. License numbers are those of the PRM and the PlayReady
/// license service: no page for FairPlay could be read.
///
/// Source: docs.nagra.com, CONNECT Player SDK 5 for Android: SSM error codes (5.32), PRM (5.29) and PlayReady (5.29, 5.36) license server
/// error codes, read on 2026-11-27; `Documentation/Vendors/NAGRA.md`, errors.
struct NAGRAError {
    /// `nil` if the page has no number.
    let code: Int?
    let status: Int

    /// - Parameter isOfSession: whether session management refuses.
    init(_ refusal: LicenseRefusal, isOfSession: Bool) {
        let code = isOfSession ? Self.sessionCode(refusal) : Self.licenseCode(refusal)
        switch refusal.kind {
        case .vendor(let code, let status): (self.code, self.status) = (Int(code), status)
        case .overloaded, .spc(.keyUnavailable): (self.code, status) = (code, 500)
        case .method, .mediaType: (self.code, status) = (code, refusal.status)
        default: (self.code, status) = (code, 400)
        }
    }

    private static func sessionCode(_ refusal: LicenseRefusal) -> Int {
        switch refusal.kind {
        case .tokenExpired, .tokenNotYetValid: 1004
        case .tokenMissing, .tokenMalformed, .tokenSignature, .tokenUsed: 1003
        case .unknownTenant: 1005
        case .sessionLimit: 1007
        case .overloaded: 4001
        default: 1000
        }
    }

    private static func licenseCode(_ refusal: LicenseRefusal) -> Int? {
        switch refusal.kind {
        case .tokenMissing: 4001
        case .tokenMalformed: 3006
        case .tokenSignature: 3003
        case .tokenExpired, .tokenNotYetValid: 4005
        case .tokenUsed: 4006
        case .notCovered, .contentMismatch, .policy, .sessionLimit: 4000
        case .unknownTenant: 4009
        case .unknownKey, .ambiguousKey: 4011
        case .spc(.keyUnavailable), .overloaded: nil
        case .spc: 2001
        default: 1001
        }
    }
}
