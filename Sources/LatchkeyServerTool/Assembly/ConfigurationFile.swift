import Foundation
import LatchkeyServer
import LatchkeyTerminal

/// A configuration on disk, and the files that it names.
struct ConfigurationFile: Sendable {
    /// The most bytes of a file that a configuration names.
    private static let limit = 1 << 20

    let path: String
    let settings: ServerSettings
    /// The shared library that stands in place of the configuration's; `nil` for the configuration's.
    private let derivation: String?

    /// - Parameters:
    ///   - path: the file.
    ///   - derivation: a licensee's library in place of the configuration's, relative to the working directory. Defaults to none.
    /// - Throws: `FileError`, `JSONProblems`.
    init(_ path: String, derivation: String? = nil) throws {
        self.path = path
        self.derivation = derivation.map { URL(filePath: $0).absoluteURL.path }
        settings = try ServerSettings(json: InputFile.read(path, limit: Self.limit))
    }

    /// The file as it is now.
    /// - Throws: `FileError`, `JSONProblems`.
    func readAgain() throws -> ConfigurationFile { try ConfigurationFile(path, derivation: derivation) }

    /// Credentials and derivation.
    var licensee: LicenseeConfiguration {
        var licensee = settings.licensee
        licensee.derivation = derivation ?? licensee.derivation
        return licensee
    }

    /// The configuration's folder.
    var folder: URL { URL(filePath: path).absoluteURL.deletingLastPathComponent() }

    /// Where the configuration's secrets are.
    var secrets: SecretPlaces { SecretPlaces(folder: folder, mounts: settings.licensee.secretMounts) }

    /// The path of a file that the configuration names, relative to the configuration's folder.
    func path(_ name: String) -> String { secrets.path(name) }

    /// What a file holds that the configuration names.
    func contents(_ name: String) throws -> Data { try InputFile.read(path(name), limit: Self.limit) }
}
