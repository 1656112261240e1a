package import Foundation

/// A folder that is removed with the last reference to it.
package final class TemporaryFolder: Sendable {
    package let url: URL

    /// Makes the folder.
    package init() throws {
        url = FileManager.default.temporaryDirectory.appendingPathComponent("latchkey-test-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(at: url) }

    /// The URL of a file in the folder, which need not exist.
    package func file(_ name: String) -> URL { url.appendingPathComponent(name) }

    /// The path of a file of the folder.
    package func path(_ name: String) -> String { file(name).path }

    /// Writes a file, and creates the folders on its path.
    /// - Parameter mode: the permission bits. Defaults to those of the process.
    /// - Returns: its path.
    @discardableResult
    package func write(_ text: String, to name: String, mode: Int? = nil) throws -> String {
        try FileManager.default.createDirectory(
            at: file(name).deletingLastPathComponent(), withIntermediateDirectories: true)
        try Data(text.utf8).write(to: file(name))
        if let mode { try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: path(name)) }
        return path(name)
    }

    /// The bytes of a file, or `nil`.
    package func contents(_ name: String) -> Data? { FileManager.default.contents(atPath: path(name)) }

    /// The permission bits of a file, or `nil`.
    package func mode(_ name: String) -> Int? {
        (try? FileManager.default.attributesOfItem(atPath: path(name)))?[.posixPermissions] as? Int
    }

    /// The names in the folder, sorted.
    package var names: [String] { ((try? FileManager.default.contentsOfDirectory(atPath: url.path)) ?? []).sorted() }
}
