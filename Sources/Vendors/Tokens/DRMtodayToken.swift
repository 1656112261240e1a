import Foundation

extension TokenInspection {
    /// The asset for this key out of `crt`, which is a JSON array written as a text, and whether its license may be stored.
    ///
    /// Source: `vendors.md` §12, token.
    mutating func readDRMtoday(_ jwt: JWTClaims, _ use: TokenUse) {
        guard let text = jwt.claims["crt"] as? String,
            let assets = try? JSONSerialization.jsonObject(with: Data(text.utf8)) as? [[String: Any]]
        else {
            advice.append(.malformed("its crt is no text of a JSON array"))
            return
        }
        add("assets", assets.compactMap { $0["assetId"] as? String }.joined(separator: ", "))
        guard let asset = assets.first(where: { Self.covers($0, use) }) else {
            advice.append(.keyNotCovered)
            return
        }
        add("variant", asset["variantId"] as? String)
        add("profile", (asset["profile"] as? [String: Any])?.keys.sorted().joined(separator: ", "))
        checkStorage(asset["storeLicense"] as? Bool ?? false, use)
    }

    private static func covers(_ asset: [String: Any], _ use: TokenUse) -> Bool {
        ["assetId", "variantId"].allSatisfy { name in
            guard let wanted = use.queryValue(name), !wanted.isEmpty else { return true }
            guard let given = asset[name] as? String, !given.isEmpty else { return name == "variantId" }
            return given == wanted
        }
    }
}
