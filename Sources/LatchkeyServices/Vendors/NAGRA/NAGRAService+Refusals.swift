import LatchkeyDecision

/// The documented refusals.
extension NAGRAService {
    /// The refusal of a token without an open session. The page of licenses has no specific number for it.
    static func noSession(at endpoint: ServiceEndpoint) -> LicenseRefusal {
        LicenseRefusal(
            .vendor(code: endpoint == .license ? "4000" : "1006", status: 400),
            reason: "The token is not that of an open session.", remedy: "Set a session up again.")
    }

    static let documented =
        DocumentedRefusal.all(
            400, at: sessionEndpoints, "1000 1001 1003 1004 1005 1006 1007 1008 1009 1011 1012 1013 1017 1018 3001 3004"
        )
        + DocumentedRefusal.all(500, at: sessionEndpoints, "4000 4001")
        + DocumentedRefusal.all(
            400,
            """
            1001 1002 1003 1004 1005 1006 2001 2002 2102 2103 2104 3001 3002 3003 3004 3005 3006 3007 3008 3009 3011 4000 4001 4002 4003 \
            4004 4005 4006 4007 4008 4009 4010 4011 4012 4013 4014 4015 4016 4017 4018 4019 4020 4021 4022 4024 4025 4027
            """)

    static let sessionEndpoints: Set<ServiceEndpoint> = [.sessionSetup, .sessionHeartbeat, .sessionTeardown]
}
