import Foundation
import LatchkeyCore

/// A vendor's license service, ready to use: a profile with all settings that it requires.
///
///     let loader = ContentKeyLoader(.vuDRM(certificate: url), credentials: .token { reason in try await app.token(reason) })
///
/// Each vendor has shorthands; `VendorProfile.configured(_:)` takes the settings by name, for a vendor that is chosen at run time.
public struct ConfiguredVendor: Sendable, Hashable {
    /// The profile, with the settings.
    public package(set) var profile: VendorProfile

    fileprivate init(unchecked profile: VendorProfile) { self.profile = profile }

    /// The result of a shorthand: a profile with all settings that it requires. A test holds the shorthands to it.
    init(
        _ profile: VendorProfile, _ certificate: URL? = nil, _ license: URL? = nil, bundled: Data? = nil,
        set settings: [String: String?] = [:]
    ) {
        let shared = [
            SettingName.certificateURL: certificate?.absoluteString, SettingName.licenseURL: license?.absoluteString,
            SettingName.certificate: bundled?.base64EncodedString(),
        ]
        self.init(unchecked: profile.with(shared.merging(settings) { $1 }.compactMapValues { $0 }))
    }

    /// The vendor with another value of a setting; the profile's own value is lost if `value` is `nil`.
    public func setting(_ name: String, to value: String?) -> Self { Self(unchecked: profile.setting(name, to: value)) }
}

extension ConfiguredVendor: CustomStringConvertible {
    /// The identifier alone, because settings may hold private addresses.
    public var description: String { profile.identifier }
}

extension VendorProfile {
    /// The vendor, ready to use.
    /// - Parameter settings: the values of parameters that are not credentials. They take precedence over the profile's own.
    /// - Throws: `IntegrationError` `missingSetting` if a required parameter has no value.
    public func configured(_ settings: [String: String] = [:]) throws(IntegrationError) -> ConfiguredVendor {
        let profile = with(settings)
        if let missing = profile.missingSettings.first { throw profile.needs(missing) }
        return ConfiguredVendor(unchecked: profile)
    }

    /// The vendor, perhaps without a required setting. Then each request that reads the setting fails.
    package var unchecked: ConfiguredVendor { ConfiguredVendor(unchecked: self) }

    /// The error for a required setting without a value.
    func needs(_ setting: String) -> IntegrationError {
        IntegrationError(
            .missingSetting, "\(name) needs the setting \"\(setting)\".",
            remedy: "Give the integration the setting \"\(setting)\".")
    }
}
