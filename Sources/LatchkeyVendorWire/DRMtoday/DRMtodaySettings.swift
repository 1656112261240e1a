package import LatchkeyCore
package import LatchkeyForms

/// A tenant's API of DRMtoday, below `/t/{tenant}/drmtoday`.
///
/// Source: `Documentation/LicenseServer.md` §5.1.
package struct DRMtodaySettings: VendorAPISettings {
    var merchant = ""
    /// The file of the key that signs tokens.
    var key = ""
    /// The maximum age of a token, by its `iat`. Defaults to 10 minutes.
    var tokenLife = Duration.seconds(600)
    /// Whether a token is limited to one session. Defaults to no.
    var isSingleUse = false

    package static let form: ObjectForm<Self> = ObjectForm(
        empty: Self(),
        members: [
            .required("merchant", \.merchant, .text), .required("key", \.key, .text),
            .defaulting("tokenLife", \.tokenLife, .duration(), to: .seconds(600)),
            .defaulting("singleUse", \.isSingleUse, .flag, to: false),
        ])

    package var secrets: [VendorSecret] { [VendorSecret("key", key, 32...64)] }

    package func api(_ secrets: [String: Secret]) throws -> DRMtodayAPI {
        var api = DRMtodayAPI()
        (api.merchant, api.signingKey) = (merchant, secrets["key"])
        (api.tokenLifetime, api.tokensAreSingleUse) = (tokenLife, isSingleUse)
        return api
    }
}
