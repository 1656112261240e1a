import LatchkeyDecision
import LatchkeyFairPlay

/// A refusal as NAGRA's services number it. One number means two things: 4001 is a missing token at the license service, and at secure
/// session management (SSM) that it is away.
///
/// The pages give no status for each number; 400 and 500 are documented for all. License numbers are those of the PRM and the PlayReady
/// license service: for FairPlay no page could be read.
///
/// Source: docs.nagra.com, CONNECT Player SDK 5 for Android: SSM error codes (5.32), PRM (5.29) and PlayReady (5.29, 5.36) license server
/// error codes, read on 2026-11-27; `Documentation/Vendors/NAGRA.md`, errors.
struct NAGRAError {
    /// `nil` where the page has no number.
    let code: Int?
    let status: Int

    init(_ refusal: LicenseRefusal, at endpoint: ServiceEndpoint) {
        if case .vendor(let code, let status) = refusal.kind {
            (self.code, self.status) = (Int(code), status)
        } else if endpoint == .license || endpoint == .certificate {
            code = Self.licenseCode(refusal)
            status = code == nil ? 500 : refusal.isOfForm ? refusal.status : 400
        } else {
            code = Self.sessionCode(refusal)
            status = code == Self.away ? 500 : refusal.isOfForm ? refusal.status : 400
        }
    }

    /// A session token that no session has. The page of licenses has no number of its own for it.
    static func noSession(at endpoint: ServiceEndpoint) -> LicenseRefusal {
        LicenseRefusal(
            .vendor(code: endpoint == .license ? "4000" : "1006", status: 400),
            reason: "The token is not that of an open session.", remedy: "Set a session up again.")
    }

    private static let away = 4001

    private static func sessionCode(_ refusal: LicenseRefusal) -> Int {
        switch refusal.kind {
        case .tokenExpired, .tokenNotYetValid: 1004
        case .tokenMissing, .tokenMalformed, .tokenSignature, .tokenUsed: 1003
        case .unknownTenant: 1005
        case .sessionLimit: 1007
        case .overloaded: away
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

    static let documented =
        DocumentedRefusal.all(
            400, at: sessions, "1000 1001 1003 1004 1005 1006 1007 1008 1009 1011 1012 1013 1017 1018 3001 3004")
        + DocumentedRefusal.all(500, at: sessions, "4000 4001")
        + DocumentedRefusal.all(
            400,
            """
            1001 1002 1003 1004 1005 1006 2001 2002 2102 2103 2104 3001 3002 3003 3004 3005 3006 3007 3008 3009 3011 4000 4001 4002 4003 \
            4004 4005 4006 4007 4008 4009 4010 4011 4012 4013 4014 4015 4016 4017 4018 4019 4020 4021 4022 4024 4025 4027
            """)

    private static let sessions: Set<ServiceEndpoint> = [.sessionSetup, .sessionHeartbeat, .sessionTeardown]
}

extension LicenseRefusal {
    /// Whether method or media type are wrong, whose statuses are HTTP's own.
    fileprivate var isOfForm: Bool {
        switch kind {
        case .method, .mediaType: true
        default: false
        }
    }
}
