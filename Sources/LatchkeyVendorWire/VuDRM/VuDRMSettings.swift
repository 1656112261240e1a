package import LatchkeyCore
package import LatchkeyForms

/// A tenant's API of VuDRM, below `/t/{tenant}/vudrm`.
///
/// Source: `Documentation/LicenseServer.md` §5.1.
package struct VuDRMSettings: VendorAPISettings {
    /// The customer's name, which is in tokens and in the certificate's address.
    var client = ""
    /// The file of the secret with which tokens are hashed.
    var secret = ""
    /// The maximum age of a token. Defaults to 30 s.
    var tokenLife = Duration.seconds(30)
    /// Whether a token is limited to one license. Defaults to yes, as at the vendor.
    var isSingleUse = true

    package static let form: ObjectForm<Self> = ObjectForm(
        empty: Self(),
        members: [
            .required("client", \.client, .name), .required("secret", \.secret, .text),
            .defaulting("tokenLife", \.tokenLife, .duration(), to: .seconds(30)),
            .defaulting("singleUse", \.isSingleUse, .flag, to: true),
        ])

    package var secrets: [VendorSecret] { [VendorSecret("secret", secret, 16...1_024)] }

    package func api(_ secrets: [String: Secret]) throws -> VuDRMAPI {
        var api = VuDRMAPI()
        (api.client, api.secret) = (client, secrets["secret"])
        (api.tokenLifetime, api.tokensAreSingleUse) = (tokenLife, isSingleUse)
        return api
    }
}
