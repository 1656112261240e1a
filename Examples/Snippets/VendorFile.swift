#if canImport(AVFoundation)
    import Foundation
    import LatchkeyAVFoundation

    /// Plays with the keys of a vendor described in a JSON file.
    enum VendorFile {
        static func loader(
            _ file: Data, token: @escaping @Sendable () async throws -> String
        ) throws -> ContentKeyLoader {
            let vendor = try VendorProfile(json: file).configured([
                "certificateURL": "https://keys.acme.example/fairplay.cer",
                "licenseURL": "https://keys.acme.example/license",
            ])
            return ContentKeyLoader(vendor, credentials: .token { _ in try await token() })
        }
    }
#endif
