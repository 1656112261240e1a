import Foundation
import LatchkeyCore

/// A file that cannot be read or written.
package struct FileError: DiagnosableError {
    package let code: String
    package let reason: String
    package let remedy: String
    /// The fault, with neither the file's name nor a full stop where `PlainFile` found it: `It is a pipe, not a regular file`.
    package let what: String

    package init(code: String, reason: String, remedy: String, what: String? = nil) {
        (self.code, self.reason, self.remedy, self.what) = (code, reason, remedy, what ?? reason)
    }

    /// The system's error, by its number.
    static func system(_ path: String, _ number: Int32) -> Self {
        let what = String(cString: strerror(number))
        return FileError(
            code: "cannotRead", reason: "\(path) cannot be read: \(number == ENOENT ? "no such file" : what).",
            remedy: "Check path and permissions.", what: what)
    }

    static func hangs(_ place: String, _ limit: Duration) -> Self {
        hangs("\(place.onOneLine) cannot be read: the system returned nothing for \(limit.inWords).")
    }

    static func tooMany(_ count: Int, _ place: String) -> Self {
        hangs(
            "\(place.onOneLine) is not read: \(count) earlier reads are still running, or blocked on files that the system does not return."
        )
    }

    private static func hangs(_ reason: String) -> Self {
        FileError(
            code: "fileHangs", reason: reason,
            remedy: "Check the disk or the network that the file is on, then try again.")
    }

    package static func cannotRead(_ path: String, because reason: String) -> Self {
        FileError(
            code: "cannotRead", reason: "\(path) cannot be read: \(reason).", remedy: "Check path and permissions.")
    }

    /// - Parameter what: the fault, such as `It is a pipe, not a regular file`.
    package static func notPlain(_ path: String, _ what: String) -> Self {
        FileError(
            code: "notPlainFile", reason: "\(path) cannot be read: \(what).",
            remedy: "Put a regular file there, and give its path.", what: what)
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
        code: "cannotRead", reason: "Another argument has already read standard input.",
        remedy: "Put one of the two into a file.")

    package static func tooLarge(_ path: String, limit: Int) -> Self {
        FileError(
            code: "fileTooLarge", reason: "\(path) is larger than the limit of \(limit) bytes.",
            remedy: "Check that it is the right file.", what: "It is larger than the limit")
    }
}
