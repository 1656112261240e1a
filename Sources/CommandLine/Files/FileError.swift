import Foundation
import LatchkeyCore

/// A file that cannot be read or written.
struct FileError: DiagnosableError {
    let code: String
    let reason: String
    let remedy: String

    static func cannotRead(_ path: String, because reason: String) -> Self {
        FileError(
            code: "cannotRead", reason: "\(path) cannot be read: \(reason).", remedy: "Check path and permissions.")
    }

    static func cannotWrite(_ path: String, because reason: String) -> Self {
        FileError(
            code: "cannotWrite", reason: "\(path) cannot be written: \(reason).", remedy: "Check path and permissions.")
    }

    /// For the reason that `errno` holds.
    static func cannotWrite(_ path: String) -> Self { cannotWrite(path, because: String(cString: strerror(errno))) }

    static func exists(_ path: String) -> Self {
        FileError(code: "fileExists", reason: "\(path) exists.", remedy: "Choose another place, or add --force.")
    }

    static func tooLarge(_ path: String, limit: Int) -> Self {
        FileError(
            code: "fileTooLarge", reason: "\(path) is larger than \(limit) bytes, the most that this reads.",
            remedy: "Check that it is the right file.")
    }
}
