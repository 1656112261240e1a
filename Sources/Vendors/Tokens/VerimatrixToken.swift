import Foundation

extension TokenInspection {
    /// The content id in `sub`, and the lease and the leave to store in `policy.fairplay`.
    ///
    /// Source: `vendors.md` §6, token.
    mutating func readVerimatrix(_ jwt: JWTClaims, _ use: TokenUse) {
        if let wanted = use.contentID, let subject = jwt.claims["sub"] as? String, subject != wanted {
            advice.append(.keyNotCovered)
        }
        guard let policy = jwt.value(["policy", "fairplay"]) as? [String: Any] else { return }
        for (name, claim) in [
            ("key duration", "key_duration"), ("lease", "lease_duration"), ("storage", "persistence_duration"),
        ] {
            add(name, (policy[claim] as? NSNumber).map { "\($0) s" })
        }
        // Nothing is stored unless the policy says so.
        checkStorage(policy["persistence"] as? Bool ?? false, use)
    }
}
