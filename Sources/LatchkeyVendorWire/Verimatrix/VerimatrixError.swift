import LatchkeyDecision
import LatchkeyFairPlay

/// An error as Verimatrix numbers it.
///
/// Source: docs.verimatrix.com, client status codes: FairPlay, and: authorization, whose numbers license requests have too; read on
/// 2026-11-27.
struct VerimatrixError {
    let status: Int
    /// `MDRM-` and four digits.
    let code: String

    /// `nil` for refusals outside the vendor's numbers.
    init?(_ refusal: LicenseRefusal) {
        switch refusal.kind {
        case .tokenMissing: (status, code) = (401, "MDRM-1001")
        case .tokenMalformed: (status, code) = (401, "MDRM-1002")
        case .tokenSignature, .tokenUsed: (status, code) = (401, "MDRM-505")
        case .tokenExpired: (status, code) = (401, "MDRM-508")
        case .tokenNotYetValid: (status, code) = (401, "MDRM-511")
        case .unknownTenant: (status, code) = (404, "MDRM-1003")
        case .malformedRequest: (status, code) = (400, "MDRM-1004")
        case .spc(.keyUnavailable): (status, code) = (500, "MDRM-1009")
        case .spc(let kind): (status, code) = (400, Self.code(kind))
        case .unknownKey: (status, code) = (404, "MDRM-1011")
        case .ambiguousKey: (status, code) = (400, "MDRM-1013")
        case .notCovered, .contentMismatch, .policy: (status, code) = (400, "MDRM-1014")
        case .overloaded: (status, code) = (503, "MDRM-1015")
        case .vendor(let code, let status): (self.status, self.code) = (status, code)
        case .method, .mediaType, .sessionLimit: return nil
        }
    }

    private static func code(_ kind: KSMRefusal.Kind) -> String {
        switch kind {
        case .unknownCertificate, .rsaDecryptFailed: "MDRM-1006"
        case .missingTag: "MDRM-1008"
        default: "MDRM-1007"
        }
    }
}
