package import Foundation
package import LatchkeyCore

/// A file that its owner alone may read, from the moment it exists.
package enum PrivateFile {
    /// Writes a secret, replacing what was there, with mode 0600.
    /// - Throws: a POSIX error that names the path's last part only.
    package static func write(_ secret: Secret, to url: URL) throws {
        let descriptor = open(url.path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw failure(url) }
        defer { close(descriptor) }
        // A file that was there keeps its mode when it is opened.
        guard fchmod(descriptor, 0o600) == 0 else { throw failure(url) }
        let isWritten = secret.withUnsafeBytes { bytes in
            var rest = bytes[...]
            while !rest.isEmpty {
                let count = Foundation.write(descriptor, UnsafeRawBufferPointer(rebasing: rest).baseAddress, rest.count)
                guard count > 0 else { return false }
                rest = rest.dropFirst(count)
            }
            return true
        }
        guard isWritten else { throw failure(url) }
    }

    private static func failure(_ url: URL) -> CocoaError {
        CocoaError(.fileWriteUnknown, userInfo: [NSFilePathErrorKey: url.lastPathComponent])
    }
}
