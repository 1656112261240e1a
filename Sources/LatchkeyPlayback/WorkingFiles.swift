import Foundation
import LatchkeyCore

/// Files in the folder of a local copy. Only the user can read them.
struct WorkingFiles {
    let directory: URL

    init(_ directory: URL) { self.directory = directory }

    /// Creates a folder with mode 0700 if it does not exist.
    /// - Throws: `Diagnosis` `fileFailed`; `CancellationError` while the process ends.
    static func made(at directory: URL) throws -> Self {
        let mode: [FileAttributeKey: Any] = [.posixPermissions: 0o700]
        do {
            try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true, attributes: mode)
        } catch {
            throw Diagnosis.fileFailed(directory.lastPathComponent)
        }
        do { try Leftovers.checkOpen() } catch {
            try? FileManager.default.removeItem(at: directory)
            throw error
        }
        return Self(directory)
    }

    func url(_ name: String) -> URL { directory.appendingPathComponent(name) }

    func read(_ name: String) throws -> Data {
        guard let data = try? Data(contentsOf: url(name)) else { throw Diagnosis.resourceMissing(name) }
        return data
    }

    /// Writes a file with mode 0600 from its creation on. Replaces an existing file.
    func write(_ bytes: some Sequence<UInt8>, to name: String) throws {
        try Array(bytes).withUnsafeBytes { try write($0, to: name) }
    }

    /// Writes a key file. Leaves no copy of the key in memory.
    func write(_ secret: Secret, to name: String) throws {
        try secret.withUnsafeBytes { try write($0, to: name) }
    }

    private func write(_ bytes: UnsafeRawBufferPointer, to name: String) throws {
        let path = url(name).path
        unlink(path)
        let file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard file >= 0 else { throw Diagnosis.fileFailed(name) }
        defer { close(file) }
        var rest = bytes[...]
        while !rest.isEmpty {
            let written = Foundation.write(file, UnsafeRawBufferPointer(rebasing: rest).baseAddress, rest.count)
            guard written > 0 || (written < 0 && errno == EINTR) else { throw Diagnosis.fileFailed(name) }
            rest = rest.dropFirst(max(0, written))
        }
    }
}
