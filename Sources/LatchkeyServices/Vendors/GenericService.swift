package import LatchkeyCore
package import LatchkeyDecision
package import LatchkeyVendorWire

/// A vendor-neutral service with the four usual dialects.
///
/// Source: `Documentation/Vendors/Generic.md`.
package struct GenericService: VendorAPIService {
    package let environment: ServiceEnvironment
    /// The value of the header `Authorization`, with or without `Bearer `. Defaults to `nil`: none is needed.
    package var token: Secret?
    package var api = GenericAPI()

    /// - Parameter environment: the service's dependencies.
    package init(_ environment: ServiceEnvironment) { self.environment = environment }

    package func demoToken() -> Secret { token ?? Secret("latchkey-demo-token") }

    package func grant(
        _ token: String?, _ question: LicenseQuestion, _ call: ServiceCall
    ) throws(LicenseRefusal) -> VendorGrant {
        if let expected = self.token {
            _ = try call.token(inHeader: .authorization)
            guard Secret(token ?? "") == expected else { throw .notCovered("The token is not the configured one.") }
        }
        return question.grant
    }
}
