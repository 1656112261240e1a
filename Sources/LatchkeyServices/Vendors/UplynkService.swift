package import LatchkeyMedia
package import LatchkeyVendorWire

/// Uplynk. Source: `Documentation/Vendors/Uplynk.md`.
package struct UplynkService: VendorAPIService {
    package let environment: ServiceEnvironment
    package var api = UplynkAPI()

    /// - Parameter environment: the service's dependencies.
    package init(_ environment: ServiceEnvironment) { self.environment = environment }

    package func keyURI(for key: StoredKey, at host: String) -> String {
        // As the vendor's: first the asset, third the ID under which a playback is logged.
        "skd://\(host)/\(identifier)/fairplay/ksm?b=\(key.id.bytes.hexString)&v=1&ray=latchkey"
    }

    package func parameters(at base: String) -> [String: String] {
        ["certificateURL": "\(base)/fairplay/public_key/\(api.owner ?? "demo").cer"]
    }
}
