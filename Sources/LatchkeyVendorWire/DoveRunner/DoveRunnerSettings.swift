package import LatchkeyCore
package import LatchkeyForms

/// A tenant's API of DoveRunner, below `/t/{tenant}/doverunner`.
///
/// Source: `Documentation/LicenseServer.md` §5.1.
package struct DoveRunnerSettings: VendorAPISettings {
    var site = ""
    var accessKey = ""
    var siteKey = ""
    var tokenLife = Duration.seconds(600)
    var isSingleUse = false

    package static let form: ObjectForm<Self> = ObjectForm(
        empty: Self(),
        members: [
            .required(
                "site", \.site,
                JSONForm(text: "four characters", read: { $0.count == 4 ? $0 : nil }, write: { $0 })
            ).explained("The site's identifier."),
            .required("accessKey", \.accessKey, .text).explained("The file of the access key."),
            .required("siteKey", \.siteKey, .text)
                .explained("The file of the site key, which encrypts policies: 32 characters."),
            .defaulting("tokenLife", \.tokenLife, .duration(), to: .seconds(600))
                .explained("The maximum age of a token, by default as at the vendor."),
            .defaulting("singleUse", \.isSingleUse, .flag, to: false)
                .explained("Whether a token is limited to one session."),
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
