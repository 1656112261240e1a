package import LatchkeyVendorWire

/// Anvato, for anyone.
///
/// Source: `Documentation/Vendors/Anvato.md`.
package struct AnvatoService: VendorAPIService {
    package let environment: ServiceEnvironment
    package let api = AnvatoAPI()

    /// - Parameter environment: the service's dependencies.
    package init(_ environment: ServiceEnvironment) { self.environment = environment }
}
