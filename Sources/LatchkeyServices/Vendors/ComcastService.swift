package import LatchkeyCore
package import LatchkeyDecision
package import LatchkeyMedia
package import LatchkeyVendorWire

/// Comcast's thePlatform.
///
/// Source: `Documentation/Vendors/Comcast.md`.
package struct ComcastService: VendorAPIService {
    package let environment: ServiceEnvironment
    /// The token that the service accepts. Tokens are opaque. Defaults to `nil`: any.
    package var token: Secret?
    package var api = ComcastAPI()

    /// The release of the demonstration: the first key, for clients that write only the release into the SPC.
    private var release: String { environment.keys.keys.first?.id.bytes.hexString ?? "latchkey" }

    /// - Parameter environment: the service's dependencies.
    package init(_ environment: ServiceEnvironment) { self.environment = environment }

    package func keyURI(for key: StoredKey, at host: String) -> String { "skd://FairPlay/\(key.id)" }

    package func parameters(at base: String) -> [String: String] {
        var parameters = addresses(at: base)
        parameters["licenseURL"]? += "?schema=1.0&form=json"
        return parameters.merging(["account": api.account ?? "latchkey", "releasePid": release]) { $1 }
    }

    package func demoToken() -> Secret { token ?? Secret("latchkey-demo-token") }

    package func grant(
        _ token: String?, _ question: LicenseQuestion, _ call: ServiceCall
    ) throws(LicenseRefusal) -> VendorGrant {
        let sent = Secret(try call.token(inQuery: "token"))
        guard self.token.map({ $0 == sent }) ?? true else {
            throw .tokenMalformed("The token is not the configured one.")
        }
        return question.grant
    }
}
