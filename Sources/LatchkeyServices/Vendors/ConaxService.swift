import Foundation
package import LatchkeyMedia
package import LatchkeyVendorWire

/// Conax. Source: `Documentation/Vendors/Conax.md`.
package struct ConaxService: VendorAPIService {
    package let environment: ServiceEnvironment
    package var api = ConaxAPI()

    /// - Parameter environment: the service's dependencies.
    package init(_ environment: ServiceEnvironment) { self.environment = environment }

    package func keyURI(for key: StoredKey, at host: String) -> String {
        "skd://\(Data(key.id.description.utf8).base64EncodedString())"
    }
}
