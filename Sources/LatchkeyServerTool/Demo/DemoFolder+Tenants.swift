import Foundation
import LatchkeyLicensing
import LatchkeyServer

extension DemoFolder {
    /// Makes the tenants' keys together with a new database. Where a database is, keys that are missing are lost, and never made again.
    func makeTenants() async throws {
        let file = try await ConfigurationFile.read(configuration)
        let address = file.settings.stores.keys
        guard address.hasPrefix("sqlite:"),
            !FileManager.default.fileExists(atPath: file.path(String(address.dropFirst("sqlite:".count))))
        else { return }
        try await KeySealing.with(file) { sealing in
            for name in file.settings.tenants.keys.sorted() { _ = try await sealing.create(name) }
        }
    }
}
