import LatchkeyCore
package import LatchkeyDecision
package import LatchkeyMedia
package import LatchkeyVendorWire

/// EZDRM, with the customer's authorization callback.
///
/// Source: `Documentation/Vendors/EZDRM.md`.
package struct EZDRMService: VendorAPIService {
    package let environment: ServiceEnvironment
    /// The value that the customer's authorization callback expects in the query's `customdata`. Defaults to `nil`: there is no callback.
    package var customData: Secret?
    package var api = EZDRMAPI()

    /// - Parameter environment: the service's dependencies.
    package init(_ environment: ServiceEnvironment) { self.environment = environment }

    /// The vendor's paths, and a customer's proxy for apps with one address for all keys: it takes the asset from the SPC.
    package var routes: [ServiceRoute] { wireRoutes + [.license("/proxy/licenses", license)] }

    package func keyURI(for key: StoredKey, at host: String) -> String { "skd://\(host)/\(identifier)/;\(key.id)" }

    package func parameters(at base: String) -> [String: String] {
        addresses(at: base).merging(["licenseURL": "\(base)/api/licenses"]) { $1 }
    }

    package func parameters(at base: String, for profile: String) -> [String: String] {
        let licenses =
            switch profile {
            case "ezdrm-complete": "\(base)/proxy/licenses"
            case "ezdrm-template": "\(base)/api/licenses/^assetId^"
            default: "\(base)/api/licenses"
            }
        return parameters(at: base).merging(["licenseURL": licenses]) { $1 }
    }

    package func demoToken() -> Secret { customData ?? Secret("") }

    package func grant(
        _ token: String?, _ question: LicenseQuestion, _ call: ServiceCall
    ) throws(LicenseRefusal) -> VendorGrant {
        if let customData {
            guard let token, !token.isEmpty else { throw .tokenMissing("the query item customdata") }
            guard Secret(token) == customData else { throw .notCovered("The customer's callback does not allow it.") }
        }
        return question.grant
    }
}
