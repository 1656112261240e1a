/// What several vendors' profiles say in the same way.
extension VendorProfile {
    /// A profile that differs from another in a few points.
    static func variant(
        of profile: VendorProfile, _ identifier: String, _ name: String, change: (inout VendorProfile) -> Void
    ) -> VendorProfile {
        var variant = profile
        variant.identifier = identifier
        variant.name = name
        change(&variant)
        return variant
    }
}

extension VendorProfile.CertificateRule {
    /// From the address in the setting `certificateURL`.
    static func fetched(_ decoder: CertificateDecoder) -> Self {
        .fetched(RequestRule(url: URLRule(.setting("certificateURL"))), decoder)
    }

    /// From the setting `certificate`, else from the address in `certificateURL`.
    static func inlineOrFetched(_ decoder: CertificateDecoder) -> Self {
        .inlineOrFetched(setting: "certificate", RequestRule(url: URLRule(.setting("certificateURL"))), decoder)
    }
}

extension RequestRule.Header {
    /// `Authorization: Bearer` and the token, left out where there is none.
    static let bearer = RequestRule.Header("Authorization", .all(["Bearer ", .credential("token")]))
}
