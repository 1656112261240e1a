package import LatchkeyVendorWire

/// Gumlet, for anyone.
///
/// Source: `Documentation/Vendors/Gumlet.md`.
package struct GumletService: VendorAPIService {
    package let environment: ServiceEnvironment
    package var api = GumletAPI()

    /// - Parameter environment: the service's dependencies.
    package init(_ environment: ServiceEnvironment) { self.environment = environment }
}
