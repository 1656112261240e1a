import Foundation
import LatchkeyCore

/// A file that cannot be read or written.
package struct FileError: DiagnosableError {
    package let code: String
    package let reason: String
    package let remedy: String

    package init(code: String, reason: String, remedy: String) {
        (self.code, self.reason, self.remedy) = (code, reason, remedy)
    }

    package static func cannotRead(_ path: String, because reason: String) -> Self {
        FileError(
            code: "cannotRead", reason: "\(path) cannot be read: \(reason).", remedy: "Check path and permissions.")
    }

    /// - Parameter what: what it is, such as `It is a pipe, and no plain file`.
    package static func notPlain(_ path: String, _ what: String) -> Self {
        FileError(
            code: "notPlainFile", reason: "\(path) cannot be read: \(what).",
            remedy: "Put a plain file there, and give its path.")
    }

    package static func cannotWrite(_ path: String, because reason: String) -> Self {
        FileError(
            code: "cannotWrite", reason: "\(path) cannot be written: \(reason).", remedy: "Check path and permissions.")
    }

    /// For the reason that `errno` holds.
    package static func cannotWrite(_ path: String) -> Self {
        cannotWrite(path, because: String(cString: strerror(errno)))
    }

    package static func exists(_ path: String) -> Self {
        FileError(code: "fileExists", reason: "\(path) exists.", remedy: "Choose another place, or add --force.")
    }

    package static let inputIsRead = FileError(
        code: "cannotRead", reason: "Standard input was read already, by another argument.",
        remedy: "Put one of the two into a file.")

    package static func tooLarge(_ path: String, limit: Int) -> Self {
        FileError(
            code: "fileTooLarge", reason: "\(path) is larger than \(limit) bytes, the most that this reads.",
            remedy: "Check that it is the right file.")
    }
}
