package import Foundation
import LatchkeyCore

/// Reads files whole, up to a limit.
package enum InputFile {
    /// The bytes of a plain file. Anything else, such as a pipe, is refused and not waited for.
    ///
    /// - Parameter look: gets the facts of the open file. Defaults to nothing.
    /// - Throws: `FileError` with `cannotRead`, `notPlainFile` or `fileTooLarge`.
    package static func read(
        _ path: String, limit: Int, look: (stat) -> Void = { _ in }
    ) throws(FileError) -> Data {
        try PlainFile.read(path, limit: limit) { facts in
            look(facts)
            return true
        }
    }

    /// The next bytes of an open file; empty at its end.
    package static func nextPiece(of handle: FileHandle, named name: String) throws -> Data {
        do { return try handle.read(upToCount: 1 << 16) ?? Data() } catch {
            throw FileError.cannotRead(name, because: reason(error))
        }
    }

    /// Opens a file, or waits for the writer of a pipe.
    /// - Throws: `FileError` with `cannotRead`.
    package static func open(_ path: String) throws -> FileHandle {
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

    /// The system's reason that a file cannot be read or written: `No space left on device`.
    package static func reason(_ error: any Error) -> String {
        let error = error as NSError
        let cause = error.userInfo[NSUnderlyingErrorKey] as? NSError ?? error
        guard cause.domain == NSPOSIXErrorDomain else {
            return error.code == CocoaError.fileReadNoSuchFile.rawValue ? "no such file" : "error \(error.code)"
        }
        return String(cString: strerror(Int32(cause.code)))
    }
}
