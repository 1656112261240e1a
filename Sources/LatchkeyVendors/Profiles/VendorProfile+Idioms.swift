// What several vendors' profiles state in the same way.

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

extension VendorProfile.Parameter {
    /// The setting `certificateURL`.
    static func certificateURL(
        _ meaning: String = "address of the application certificate", required: Bool = false, example: String
    ) -> Self { .setting(SettingName.certificateURL, meaning, required: required, example: example) }

    /// The setting `licenseURL`.
    static func licenseURL(
        _ meaning: String = "address of the license service", required: Bool = false, example: String
    ) -> Self { .setting(SettingName.licenseURL, meaning, required: required, example: example) }

    /// The credential `token`.
    static func token(_ meaning: String, required: Bool = true, example: String) -> Self {
        .credential(CredentialSet.tokenName, meaning, required: required, example: example)
    }
}

extension TextRule {
    /// The setting `certificateURL`.
    static let certificateURL = TextRule.setting(SettingName.certificateURL)
    /// The setting `licenseURL`.
    static let licenseURL = TextRule.setting(SettingName.licenseURL)
    /// The credential `token`.
    static let token = TextRule.credential(CredentialSet.tokenName)
}

extension VendorProfile.CertificateRule {
    /// From the address in the setting `certificateURL`.
    static func fetched(_ decoder: CertificateDecoder) -> Self {
        .fetched(RequestRule(url: URLRule(.certificateURL)), decoder)
    }

    /// From the setting `certificate`, else from the address in `certificateURL`.
    static func inlineOrFetched(_ decoder: CertificateDecoder) -> Self {
        .inlineOrFetched(setting: SettingName.certificate, RequestRule(url: URLRule(.certificateURL)), decoder)
    }
}

extension RequestRule.Header {
    /// `Authorization: Bearer` and the token; left out if there is no token.
    static let bearer = RequestRule.Header("Authorization", .all(["Bearer ", .token]))
}
