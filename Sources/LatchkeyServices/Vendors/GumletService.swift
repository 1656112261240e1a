package import LatchkeyVendorWire

/// Gumlet, for anyone.
///
/// Source: `Documentation/Vendors/Gumlet.md`.
package struct GumletService: VendorAPIService {
    package let environment: ServiceEnvironment
    package var api = GumletAPI()

    /// - Parameter environment: what the service needs.
    package init(_ environment: ServiceEnvironment) { self.environment = environment }
}
