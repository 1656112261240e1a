package import LatchkeyCore
package import LatchkeyForms

/// A tenant's API of DoveRunner, below `/t/{tenant}/doverunner`.
///
/// Source: `Documentation/LicenseServer.md` §5.1.
package struct DoveRunnerSettings: VendorAPISettings {
    /// The site's four characters.
    var site = ""
    /// The file of the access key.
    var accessKey = ""
    /// The file of the site key, which encrypts policies: 32 characters.
    var siteKey = ""
    /// The maximum age of a token. Defaults to 10 minutes, as at the vendor.
    var tokenLife = Duration.seconds(600)
    /// Whether a token is limited to one session. Defaults to no.
    var isSingleUse = false

    package static let form: ObjectForm<Self> = ObjectForm(
        empty: Self(),
        members: [
            .required(
                "site", \.site,
                JSONForm(text: "four characters", read: { $0.count == 4 ? $0 : nil }, write: { $0 })),
            .required("accessKey", \.accessKey, .text), .required("siteKey", \.siteKey, .text),
            .defaulting("tokenLife", \.tokenLife, .duration(), to: .seconds(600)),
            .defaulting("singleUse", \.isSingleUse, .flag, to: false),
        ])

    package var secrets: [VendorSecret] {
        [VendorSecret("accessKey", accessKey, 16...1_024), VendorSecret("siteKey", siteKey, 32...32)]
    }

    package func api(_ secrets: [String: Secret]) throws -> DoveRunnerAPI {
        var api = DoveRunnerAPI()
        (api.siteID, api.accessKey, api.siteKey) = (site, secrets["accessKey"], secrets["siteKey"])
        (api.tokenLifetime, api.tokensAreSingleUse) = (tokenLife, isSingleUse)
        return api
    }
}
