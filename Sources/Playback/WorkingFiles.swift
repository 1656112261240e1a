import Foundation
import LatchkeyCore

/// Files in the folder of a local copy: for nobody but the user.
struct WorkingFiles {
    let directory: URL

    init(_ directory: URL) { self.directory = directory }

    /// Makes a new folder inside one for temporary files, mode 0700.
    static func temporary(in parent: URL) throws -> Self {
        let name = "latchkey-\(UUID().uuidString.lowercased())"
        return try made(at: parent.appendingPathComponent(name, isDirectory: true))
    }

    /// Makes a folder, mode 0700, unless it is there.
    static func made(at directory: URL) throws -> Self {
        let mode: [FileAttributeKey: Any] = [.posixPermissions: 0o700]
        do {
            try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true, attributes: mode)
        } catch {
            throw PlaybackError.fileFailed(directory.lastPathComponent)
        }
        return Self(directory)
    }

    func url(_ name: String) -> URL { directory.appendingPathComponent(name) }

    func read(_ name: String) throws -> Data {
        guard let data = try? Data(contentsOf: url(name)) else { throw PlaybackError.resourceMissing(name) }
        return data
    }

    /// Writes a file that the user alone can read, mode 0600 from its first moment. An old file of the name goes.
    func write(_ bytes: some Sequence<UInt8>, to name: String) throws {
        try Array(bytes).withUnsafeBytes { try write($0, to: name) }
    }

    /// Writes a key file without leaving a copy of the key in memory.
    func write(_ secret: Secret, to name: String) throws {
        try secret.withUnsafeBytes { try write($0, to: name) }
    }

    func remove() { try? FileManager.default.removeItem(at: directory) }

    private func write(_ bytes: UnsafeRawBufferPointer, to name: String) throws {
        let path = url(name).path
        unlink(path)
        let file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard file >= 0 else { throw PlaybackError.fileFailed(name) }
        defer { close(file) }
        var rest = bytes[...]
        while !rest.isEmpty {
            let written = Foundation.write(file, UnsafeRawBufferPointer(rebasing: rest).baseAddress, rest.count)
            guard written > 0 || errno == EINTR else { throw PlaybackError.fileFailed(name) }
            rest = rest.dropFirst(max(0, written))
        }
    }
}
