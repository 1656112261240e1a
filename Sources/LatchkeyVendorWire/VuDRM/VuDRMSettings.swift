package import LatchkeyCore
package import LatchkeyForms

/// A tenant's API of VuDRM, below `/t/{tenant}/vudrm`.
///
/// Source: `Documentation/LicenseServer.md` §5.1.
package struct VuDRMSettings: VendorAPISettings {
    var client = ""
    var secret = ""
    var tokenLife = Duration.seconds(30)
    var isSingleUse = true

    package static let form: ObjectForm<Self> = ObjectForm(
        empty: Self(),
        members: [
            .required("client", \.client, .name)
                .explained("The customer's name, which is in tokens and in the certificate's address."),
            .required("secret", \.secret, .text).explained("The file of the secret with which tokens are hashed."),
            .defaulting("tokenLife", \.tokenLife, .duration(), to: .seconds(30)).explained(
                "The maximum age of a token."),
            .defaulting("singleUse", \.isSingleUse, .flag, to: true)
                .explained("Whether a token is limited to one license, by default as at the vendor."),
        ])

    package var secrets: [VendorSecret] { [VendorSecret("secret", secret, 16...1_024)] }

    package func api(_ secrets: [String: Secret]) throws -> VuDRMAPI {
        var api = VuDRMAPI()
        (api.client, api.secret) = (client, secrets["secret"])
        (api.tokenLifetime, api.tokensAreSingleUse) = (tokenLife, isSingleUse)
        return api
    }
}
