package import Foundation
import LatchkeyPlayback
import LatchkeySystem

/// Writes files completely or not at all.
package enum OutputFile {
    /// The permitted readers of a file.
    package enum Readers: mode_t, Sendable {
        /// Only its owner: mode 0600.
        case owner = 0o600
        /// Every user whom the umask allows.
        case everyone = 0o666
    }

    /// The action if the file exists.
    package enum Existing: Sendable { case replace, refuse }

    /// Creates a folder and its parents, unless they exist.
    ///
    /// - Throws: `FileError` with `cannotWrite`.
    package static func makeFolder(_ folder: URL) throws {
        do { try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true) } catch {
            throw FileError.cannotWrite(folder.relativePath, because: "the folder cannot be made")
        }
    }

    /// Writes a file through a temporary one next to it. Writes to standard output for `-`, and directly to anything but a
    /// regular file, such as a pipe.
    ///
    /// - Throws: `FileError` with `cannotWrite` or `fileExists`.
    package static func write(
        _ data: Data, to path: String, for readers: Readers, ifExists existing: Existing = .replace, _ console: Console
    ) throws {
        if path == "-" { return console.output.write(data) }
        if existing == .refuse, access(path, F_OK) == 0 { throw FileError.exists(path) }
        do {
            try PartialFile.write(data, to: path, mode: readers.rawValue)
        } catch let error as POSIXError {
            throw FileError.cannotWrite(path, because: String(cString: strerror(error.code.rawValue)))
        }
    }
}
