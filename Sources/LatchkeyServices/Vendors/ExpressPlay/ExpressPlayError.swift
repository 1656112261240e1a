import LatchkeyDecision
import LatchkeyFairPlay

/// A refusal as ExpressPlay numbers it.
///
/// The page names the statuses by kind: 400 for arguments, 401 for authentication, 404 for the URL, 5xx. Which code has which is inferred.
///
/// Source: `Documentation/Vendors/ExpressPlay.md`, errors.
struct ExpressPlayError {
    /// A negative number.
    let code: Int
    let status: Int
    /// Whether the customer or the device is refused, and not the request.
    var isDenial: Bool { status == 401 || Self.denials.contains(code) }

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
        switch refusal.kind {
        case .method, .mediaType, .overloaded, .spc, .vendor: status = refusal.status
        default: status = Self.status(of: code)
        }
    }

    static let documented = numbers.flatMap { code in
        DocumentedRefusal.all(status(of: code), at: [.license, .onPremise, .token, .entitlement], "\(code)")
    }

    private static let numbers =
        [
            -2002, -2003, -2005, -2017, -2018, -2019, -2027, -2031, -2033, -2036, -2037, -3004, -4001, -4010, -4024,
            -5003,
        ]
        + [-2025] + Array(-2023 ... -2020) + Array(-4022 ... -4018) + Array(-6009 ... -6001)

    private static func status(of code: Int) -> Int {
        switch code {
        case -2017, -2018, -2031, -4001, -4010, -6006: 401
        case -6004: 500
        default: 400
        }
    }

    private static let denials: Set = [-2003, -2019, -4018, -6008, -6009]
}
