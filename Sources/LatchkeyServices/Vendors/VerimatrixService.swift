import Foundation
package import LatchkeyCore
package import LatchkeyDecision
package import LatchkeyForms
package import LatchkeyMedia
package import LatchkeyVendorWire

/// Verimatrix's Streamkeeper Multi-DRM, and the older, non-cloud product. Source: `Documentation/Vendors/Verimatrix.md`.
package struct VerimatrixService: SignedTokenService, VendorAPIService {
    package let environment: ServiceEnvironment
    /// The key that signs tokens, HS256, at most 64 bytes. Defaults to `nil`: any.
    package var signingKey: Secret?
    package var api = VerimatrixAPI()

    /// - Parameter environment: the service's dependencies.
    package init(_ environment: ServiceEnvironment) { self.environment = environment }

    package var usualClaims: [String: JSONValue] {
        ["iat": .number(environment.time.date.timeIntervalSince1970.rounded(.down))]
    }

    package func keyURI(for key: StoredKey, at host: String) -> String { "skd://\(key.id)?keyId=\(key.id)" }

    package var documentedRefusals: [DocumentedRefusal] {
        DocumentedRefusal.all(400, "MDRM-1004 MDRM-1006 MDRM-1007 MDRM-1008 MDRM-1013 MDRM-1014")
            + DocumentedRefusal.all(
                401,
                """
                MDRM-501 MDRM-502 MDRM-504 MDRM-505 MDRM-506 MDRM-508 MDRM-509 MDRM-510 MDRM-511 MDRM-512 MDRM-513 MDRM-1001 MDRM-1002
                """)
            + DocumentedRefusal.all(403, "MDRM-503") + DocumentedRefusal.all(404, "MDRM-1003 MDRM-1005 MDRM-1011")
            + DocumentedRefusal.all(500, "MDRM-500 MDRM-507 MDRM-1000 MDRM-1009 MDRM-1010 MDRM-1012")
            + DocumentedRefusal.all(503, "MDRM-1015")
    }

    package func question(_ call: ServiceCall) throws(LicenseRefusal) -> LicenseQuestion {
        var question = try api.licenseRequest(call)
        guard case .token(let text) = question.credentials, !api.isForm(call) else { return question }
        guard var text, !text.isEmpty else { throw .tokenMissing("the header or the query item Authorization") }
        if text.hasPrefix("Bearer ") {
            try call.breach(of: VerimatrixAPI.noBearer, "The token has “Bearer” in front.")
            text.removeFirst(7)
        }
        let token = try checked(text)
        try checkIssued(token, call)
        question.key = RequestedKey(name: token.claims["sub"]?.text, inSPC: question.key.nameInSPC)
        question.grant.terms = Self.terms(token.claims["policy"]?["fairplay"])
        return question
    }
}

extension VerimatrixService {
    /// A token needs `iat`, and lives until `iat` and 120 s, give or take 5 s, whatever its `exp` says.
    ///
    /// Source: docs.verimatrix.com/docs/authorization-overview, by `Documentation/Vendors/Verimatrix.md`, token.
    private func checkIssued(_ token: JSONWebToken, _ call: ServiceCall) throws(LicenseRefusal) {
        guard let issued = token.claims["iat"]?.number else {
            return try call.breach(of: VerimatrixAPI.issuedAt, "The token has no “iat”.")
        }
        let age = call.date.timeIntervalSince1970 - issued
        if age < -5 { try call.breach(of: VerimatrixAPI.issuedBefore, "The token's “iat” is still to come.") }
        if age > 125 { try call.breach(of: VerimatrixAPI.tokenAge, "The token's “iat” is more than 120 s ago.") }
    }

    /// The terms that the token's policy grants; `nil` if it states none.
    private static func terms(_ policy: JSONValue?) -> LicenseTerms? {
        if policy?["persistence"]?.flag == true {
            return LicenseTerms(policy?["persistence_duration"]?.seconds.map { .persistentFor($0) } ?? .persistent)
        }
        if policy?["lease"]?.flag == true, let lease = policy?["lease_duration"]?.seconds {
            return LicenseTerms(.lease(lease))
        }
        return policy?["key_duration"]?.seconds.map { LicenseTerms(.rental($0)) }
    }
}
