package import LatchkeyCore
package import LatchkeyVendorWire

/// Kaltura's uDRM, for anyone.
///
/// Source: `Documentation/Vendors/Kaltura.md`.
package struct KalturaService: VendorAPIService {
    package let environment: ServiceEnvironment
    package var api = KalturaAPI()

    /// - Parameter environment: the service's dependencies.
    package init(_ environment: ServiceEnvironment) { self.environment = environment }

    package var redaction: Redaction { Redaction(queryItems: ["custom_data", "signature"]) }

    package func parameters(at base: String) -> [String: String] {
        addresses(at: base).merging(["certificate": environment.inlineCertificate]) { $1 }
    }
}
