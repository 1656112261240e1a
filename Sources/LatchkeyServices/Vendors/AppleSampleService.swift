package import LatchkeyVendorWire

/// A key server by the convention of Apple's sample. Source: `Documentation/Vendors/AppleSample.md`.
package struct AppleSampleService: VendorAPIService {
    package let environment: ServiceEnvironment
    package var api = AppleSampleAPI()

    /// - Parameter environment: the service's dependencies.
    package init(_ environment: ServiceEnvironment) { self.environment = environment }
}
