package import Foundation
import LatchkeyPlayback
import LatchkeySystem

/// Writes files whole or not at all.
package enum OutputFile {
    /// Who may read a file.
    package enum Readers: mode_t, Sendable {
        /// Its owner alone: mode 0600.
        case owner = 0o600
        /// Everybody whom the umask allows.
        case everyone = 0o666
    }

    /// What to do if the file exists.
    package enum Existing: Sendable { case replace, refuse }

    /// Makes a folder and its parents, unless they exist.
    ///
    /// - Throws: `FileError` with `cannotWrite`.
    package static func makeFolder(_ folder: URL) throws {
        do { try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true) } catch {
            throw FileError.cannotWrite(folder.relativePath, because: "the folder cannot be made")
        }
    }

    /// Writes a file through a temporary one beside it. Writes to standard output for `-`, and directly to what is no ordinary file,
    /// such as a pipe.
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
