import Foundation
import LatchkeyCore
import LatchkeyLicensing
import LatchkeyServer

/// A running demonstration: the server of a folder that is made out of nothing, with demo streams and a page that plays them.
struct Demonstration {
    let server: LicenseServer
    let sheet: DemoSheet

    /// - Parameters:
    ///   - folder: the folder, with its configuration.
    ///   - derivation: a licensee's library; `nil` for test credentials alone.
    ///   - lines: takes the log. Defaults to standard error.
    /// - Throws: errors of files, of the configuration and of listening; `demoAssetMissing`, `demoDamaged`.
    static func start(
        in folder: DemoFolder, derivation: String? = nil, lines: LineWriter = LineWriter(descriptor: 2)
    ) async throws -> Demonstration {
        let media = try DemoMedia(folder.url)
        try await folder.makeTenants()
        let file = try await ConfigurationFile.read(folder.configuration, derivation: derivation)
        let server = try await LicenseServer(file, lines: lines, front: media.answer)
        do {
            if let demo = server.current.tenants["demo"] { try await media.addKeys(to: demo.vault) }
            let token = try DemoFolder.token(in: folder.url, for: "viewer-1", at: Date())
            return Demonstration(server: server, sheet: DemoSheet(server.addresses, folder, token: token))
        } catch {
            await server.stop()
            throw error
        }
    }
}
