package import Foundation
package import LatchkeyCore

/// Writes files that only their owner can open, from creation on.
package enum PrivateFile {
    /// Writes a secret to a file with mode 0600. Replaces an existing file.
    /// - Throws: a POSIX error that names only the path's last component.
    package static func write(_ secret: Secret, to url: URL) throws {
        let descriptor = open(url.path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw failure(url) }
        defer { close(descriptor) }
        // Opening an existing file does not change its mode.
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
        let cause = NSError(domain: NSPOSIXErrorDomain, code: Int(errno))
        return CocoaError(
            .fileWriteUnknown, userInfo: [NSFilePathErrorKey: url.lastPathComponent, NSUnderlyingErrorKey: cause])
    }
}
