import Foundation

/// Reads files whole, up to a limit.
enum InputFile {
    /// The bytes of a file, or of standard input for `-`.
    ///
    /// - Throws: `FileError` with `cannotRead` or `fileTooLarge`.
    static func read(_ path: String, limit: Int, _ console: Console) throws -> Data {
        if path == "-" { return try console.input(limit) }
        let handle: FileHandle
        do {
            handle = try FileHandle(forReadingFrom: URL(fileURLWithPath: path))
        } catch {
            throw FileError.cannotRead(path, because: reason(error))
        }
        defer { try? handle.close() }
        return try read(handle, named: path, limit: limit)
    }

    /// The bytes that an open file still has.
    static func read(_ handle: FileHandle, named name: String, limit: Int) throws -> Data {
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

    private static func reason(_ error: any Error) -> String {
        let error = error as NSError
        let cause = error.userInfo[NSUnderlyingErrorKey] as? NSError ?? error
        guard cause.domain == NSPOSIXErrorDomain else {
            return error.code == CocoaError.fileReadNoSuchFile.rawValue ? "no such file" : "error \(error.code)"
        }
        return String(cString: strerror(Int32(cause.code)))
    }
}
