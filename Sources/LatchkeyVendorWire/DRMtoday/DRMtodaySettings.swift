package import LatchkeyCore
package import LatchkeyForms

/// A tenant's API of DRMtoday, below `/t/{tenant}/drmtoday`.
///
/// Source: `Documentation/LicenseServer.md` §5.1.
package struct DRMtodaySettings: VendorAPISettings {
    var merchant = ""
    var key = ""
    var tokenLife = Duration.seconds(600)
    var isSingleUse = false

    package static let form: ObjectForm<Self> = ObjectForm(
        empty: Self(),
        members: [
            .required("merchant", \.merchant, .text).explained("The merchant's name."),
            .required("key", \.key, .text).explained("The file of the key that signs tokens, 32 to 64 bytes."),
            .defaulting("tokenLife", \.tokenLife, .duration(), to: .seconds(600))
                .explained("The maximum age of a token, by its `iat`."),
            .defaulting("singleUse", \.isSingleUse, .flag, to: false)
                .explained("Whether a token is limited to one session."),
        ])

    package var secrets: [VendorSecret] { [VendorSecret("key", key, 32...64)] }

    package func api(_ secrets: [String: Secret]) throws -> DRMtodayAPI {
        var api = DRMtodayAPI()
        (api.merchant, api.signingKey) = (merchant, secrets["key"])
        (api.tokenLifetime, api.tokensAreSingleUse) = (tokenLife, isSingleUse)
        return api
    }
}
