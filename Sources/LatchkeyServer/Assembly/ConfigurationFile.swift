import Foundation
import LatchkeyCore
import LatchkeyForms
package import LatchkeyLicensees
package import LatchkeyLicensing
package import LatchkeyStores
package import LatchkeySystem

/// A configuration on disk, and the files that it names.
package struct ConfigurationFile: Sendable {
    /// The most bytes of a file that a configuration names.
    private static let limit = 1 << 20

    package let path: String
    package let settings: ServerSettings
    /// The threads that read this file and the files that it names while the server runs.
    let threads: FileThreads
    /// The shared library that replaces the configuration's; `nil` for the configuration's.
    private let derivation: String?

    /// Reads the file on the calling thread, which it blocks.
    /// - Parameters:
    ///   - path: the file.
    ///   - derivation: a licensee's library in place of the configuration's, relative to the working directory. Defaults to none.
    ///   - threads: where files are read later. Defaults to new threads.
    /// - Throws: `FileError`, `JSONProblems`.
    package init(_ path: String, derivation: String? = nil, threads: FileThreads = FileThreads()) throws {
        self.path = path
        self.threads = threads
        self.derivation = derivation.map { URL(filePath: $0).absoluteURL.path }
        var mode: mode_t = 0
        settings = try ServerSettings(json: InputFile.read(path, limit: Self.limit) { mode = $0.st_mode })
        try checkPasswords(mode)
    }

    /// Reads the valid parts of the file, for a check that continues, on a thread for files. Invalid parts have their defaults.
    /// - Parameters: as `init`.
    /// - Returns: the file, and its problems by place.
    /// - Throws: `FileError`, `JSONProblems` if it is not a JSON object.
    static func readWhatFits(
        _ path: String, derivation: String? = nil, on threads: FileThreads = FileThreads()
    ) async throws -> (file: ConfigurationFile, problems: ServerProblems) {
        try await threads.run(path) {
            var mode: mode_t = 0
            let json = try InputFile.read(path, limit: limit) { mode = $0.st_mode }
            let (settings, found) = try ServerSettings.whatFits(of: json)
            let file = ConfigurationFile(path, settings, derivation, threads)
            var problems = ServerProblems()
            for problem in found { problems.add(.init(problem.place, problem.what, problem.remedy)) }
            _ = problems.collecting("stores") { try file.checkPasswords(mode) }
            return (file, problems)
        }
    }

    private init(_ path: String, _ settings: ServerSettings, _ derivation: String?, _ threads: FileThreads) {
        self.path = path
        self.settings = settings
        self.threads = threads
        self.derivation = derivation.map { URL(filePath: $0).absoluteURL.path }
    }

    /// Reads the file on a thread for files.
    /// - Parameters: as `init`.
    /// - Throws: `FileError`, `JSONProblems`.
    package static func read(
        _ path: String, derivation: String? = nil, on threads: FileThreads = FileThreads()
    ) async throws -> ConfigurationFile {
        try await threads.run(path) { try ConfigurationFile(path, derivation: derivation, threads: threads) }
    }

    /// The file as it is now, read on the calling thread.
    /// - Throws: `FileError`, `JSONProblems`.
    func readAgain() throws -> ConfigurationFile {
        try ConfigurationFile(path, derivation: derivation, threads: threads)
    }

    /// The file as it is now, read on a thread for files.
    /// - Throws: `FileError`, `JSONProblems`.
    func readAgainOnThread() async throws -> ConfigurationFile {
        try await threads.run(path) { try readAgain() }
    }

    /// Credentials and derivation.
    var licensee: LicenseeConfiguration {
        var licensee = settings.licensee
        licensee.derivation = derivation ?? licensee.derivation
        return licensee
    }

    /// A tenant's own credentials; `nil` where it has the server's. A derivation, its vectors and mounted folders that it does not name
    /// are the server's.
    func licensee(of tenant: TenantSettings) -> LicenseeConfiguration? {
        guard var own = tenant.licensee else { return nil }
        if own.derivation == nil {
            own.derivation = licensee.derivation
            own.vectors = own.vectors ?? licensee.vectors
        }
        own.secretMounts += licensee.secretMounts
        return own
    }

    /// The configuration's folder.
    var folder: URL { URL(filePath: path).absoluteURL.deletingLastPathComponent() }

    /// Where the configuration's secrets are.
    package var secrets: SecretPlaces { SecretPlaces(folder: folder, mounts: settings.licensee.secretMounts) }

    /// The path of a file that the configuration names, relative to the configuration's folder.
    package func path(_ name: String) -> String { secrets.path(name) }

    /// The content of a file that the configuration names.
    func contents(_ name: String) throws -> Data { try InputFile.read(path(name), limit: Self.limit) }

    /// The address of a database that a file holds alone: that of the role which owns the tables.
    /// - Parameter name: the file, relative to the working directory.
    /// - Throws: `FileError`, also for a password in a file that others than its owner can read; `storeAddress` for any other text.
    package func ownerAddress(inFile name: String) throws -> StoreAddress {
        var mode: mode_t = 0
        let text = String(decoding: try InputFile.read(name, limit: 4_096) { mode = $0.st_mode }, as: UTF8.self)
        let address = try StoreAddress(text.trimmingCharacters(in: .whitespacesAndNewlines))
        guard address.isDatabase else {
            throw Diagnosis(
                code: "storeAddress", reason: "The owner's file does not contain a database address.",
                remedy: "Write postgresql://OWNER@HOST/DATABASE to it.")
        }
        if address.holdsPassword, isOpen(mode, URL(filePath: name).absoluteURL.path) {
            throw FileError.passwordOpenToOthers(name)
        }
        return address
    }

    private func isOpen(_ mode: mode_t, _ path: String) -> Bool {
        mode & (secrets.isMounted(path) ? 0o022 : 0o077) != 0
    }

    /// Refuses a password in a file that others than its owner can read, as files of secrets are refused.
    private func checkPasswords(_ mode: mode_t) throws {
        let stores = settings.stores
        let regions = stores.regions.sorted { $0.key < $1.key }.map { ("stores.regions.\($0.key)", $0.value) }
        let addresses =
            [
                ("stores.sessions", stores.sessions), ("stores.keys", stores.keys), ("stores.audit", stores.audit),
                ("record.destination", settings.record?.destination ?? ""),
            ] + regions
        for text in Set(addresses.map(\.1)) {
            for file in (try? StoreAddress(text))?.secretFiles ?? [] { _ = try secrets.secret(file) }
        }
        guard isOpen(mode, path) else { return }
        for (place, text) in addresses {
            guard let address = try? StoreAddress(text), address.holdsPassword else { continue }
            throw FileError.passwordOpenToOthers(path, in: place)
        }
    }
}

extension FileError {
    fileprivate static func passwordOpenToOthers(_ path: String, in place: String? = nil) -> Self {
        FileError(
            code: "passwordOpenToOthers",
            reason:
                "\(path) holds a password\(place.map { ", in \($0)," } ?? "") and is accessible to other users.",
            remedy:
                "Run chmod 600 \(path), or put the password into a separate file, which the address names: with passfile for PostgreSQL, with passwordFile for Redis."
        )
    }
}
