package import Foundation
import LatchkeyCore
package import LatchkeySystem

extension InputFile {
    /// Reads a file, a pipe such as a shell's `<(…)`, or standard input for `-`. Waits for a pipe's writer.
    ///
    /// - Throws: `FileError` with `cannotRead` or `fileTooLarge`.
    package static func read(_ path: String, limit: Int, _ console: Console) throws -> Data {
        if path == "-" { return try console.input(limit) }
        let handle = try open(path)
        defer { try? handle.close() }
        return try read(handle, named: path, limit: limit)
    }

    /// Whether a path names a file that the process already has open, like a shell's `<(…)` and `/dev/stdin`. Its writer exists.
    static func isOpen(_ path: String) -> Bool {
        path == "/dev/stdin" || ["/dev/fd/", "/proc/self/fd/"].contains { path.hasPrefix($0) && !path.contains("..") }
    }

    /// Reads a file, or standard input for `-`, in pieces, so that any length is possible.
    ///
    /// - Throws: `FileError` with `cannotRead`.
    package static func forEachPiece(of path: String, _ console: Console, _ body: (Data) -> Void) throws {
        if path == "-" {
            guard let next = console.inputPiece else { return body(try console.input(1 << 40)) }
            while case let piece = try next(), !piece.isEmpty { body(piece) }
            return
        }
        let handle = try open(path)
        defer { try? handle.close() }
        while case let piece = try nextPiece(of: handle, named: path), !piece.isEmpty { body(piece) }
    }
}
