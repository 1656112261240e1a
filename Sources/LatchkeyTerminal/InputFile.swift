package import Foundation
import LatchkeyCore
import LatchkeyFiles

/// Reads files whole, up to a limit.
package enum InputFile {
    /// The bytes of what a user names: a file, a pipe such as a shell makes of `<(…)`, or standard input for `-`. Waits for a pipe's writer.
    ///
    /// - Throws: `FileError` with `cannotRead` or `fileTooLarge`.
    package static func read(_ path: String, limit: Int, _ console: Console) throws -> Data {
        if path == "-" { return try console.input(limit) }
        let handle = try open(path)
        defer { try? handle.close() }
        return try read(handle, named: path, limit: limit)
    }

    /// The bytes of a plain file. Anything else, such as a pipe, is refused and not waited for.
    ///
    /// - Parameter look: gets the facts of the open file. Defaults to nothing.
    /// - Throws: `FileError` with `cannotRead`, `notPlainFile` or `fileTooLarge`.
    package static func read(
        _ path: String, limit: Int, look: (stat) -> Void = { _ in }
    ) throws(FileError) -> Data {
        do throws(PlainFileError) {
            return try PlainFile.read(path, limit: limit) { facts in
                look(facts)
                return true
            }
        } catch {
            switch error {
            case .system(ENOENT): throw .cannotRead(path, because: "no such file")
            case .system(let number): throw .cannotRead(path, because: String(cString: strerror(number)))
            case .tooLarge: throw .tooLarge(path, limit: limit)
            case .notPlain, .notAccepted: throw .notPlain(path, error.what)
            }
        }
    }

    /// Whether a path names what the process has open already, as a shell's `<(…)` and `/dev/stdin` do. Its writer is there.
    static func isOpen(_ path: String) -> Bool {
        path == "/dev/stdin" || ["/dev/fd/", "/proc/self/fd/"].contains { path.hasPrefix($0) && !path.contains("..") }
    }

    /// Reads a file, or standard input for `-`, in pieces, so that it may have any length.
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

    /// The next bytes of an open file; empty at its end.
    package static func nextPiece(of handle: FileHandle, named name: String) throws -> Data {
        do { return try handle.read(upToCount: 1 << 16) ?? Data() } catch {
            throw FileError.cannotRead(name, because: reason(error))
        }
    }

    private static func open(_ path: String) throws -> FileHandle {
        do { return try FileHandle(forReadingFrom: URL(fileURLWithPath: path)) } catch {
            throw FileError.cannotRead(path, because: reason(error))
        }
    }

    /// The bytes that an open file still has.
    package static func read(_ handle: FileHandle, named name: String, limit: Int) throws -> Data {
        var data = Data()
        do {
            while data.count <= limit, let more = try handle.read(upToCount: limit + 1 - data.count), !more.isEmpty {
                data.append(more)
            }
        } catch {
            throw FileError.cannotRead(name, because: reason(error))
        }
        guard data.count <= limit else { throw FileError.tooLarge(name, limit: limit) }
        return data
    }

    /// What the system says of a file that cannot be read or written: `No space left on device`.
    package static func reason(_ error: any Error) -> String {
        let error = error as NSError
        let cause = error.userInfo[NSUnderlyingErrorKey] as? NSError ?? error
        guard cause.domain == NSPOSIXErrorDomain else {
            return error.code == CocoaError.fileReadNoSuchFile.rawValue ? "no such file" : "error \(error.code)"
        }
        return String(cString: strerror(Int32(cause.code)))
    }
}
