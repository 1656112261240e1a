import Foundation
import LatchkeyCore
import LatchkeySystem

/// A small file system for a test that can be full: memory mounted at a folder, which ends with the process that mounted it.
final class SmallDisk: Sendable {
    /// Whether one can be mounted: by root, or through sudo, unless the container has lost the right.
    static let isPossible = (try? SmallDisk(megabytes: 1)) != nil

    let path: String
    private let input: FileHandle
    private var ballast: String { "\(path)/ballast" }

    init(megabytes: Int) throws {
        path = "/tmp/lk-disk-\(UUID().uuidString.prefix(8))"
        let process = Subprocess()
        process.executableURL = URL(filePath: "/bin/sh")
        process.arguments = ["-c", Self.script, "sh", path, "\(megabytes)"]
        let (input, output) = (Pipe(), Pipe())
        (process.standardInput, process.standardOutput, process.standardError) = (input, output, FileHandle.nullDevice)
        self.input = input.fileHandleForWriting
        try process.run()
        guard output.fileHandleForReading.availableData == Data("mounted\n".utf8) else {
            throw Diagnosis(
                code: "test", reason: "No file system can be mounted.", remedy: "Run this as root, or with sudo.")
        }
    }

    deinit { try? input.close() }

    /// Leaves room for no byte more.
    func fill() throws {
        let file = open(ballast, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
        guard file >= 0 else { throw POSIXError(.init(rawValue: errno) ?? .EIO) }
        defer { close(file) }
        let bytes = [UInt8](repeating: 0, count: 1 << 16)
        while write(file, bytes, bytes.count) > 0 {}
        guard errno == ENOSPC else { throw POSIXError(.init(rawValue: errno) ?? .EIO) }
    }

    func makeRoom() throws { try FileManager.default.removeItem(atPath: ballast) }

    private static let script = """
        root=""
        [ "$(id -u)" = 0 ] || root="sudo -n"
        mkdir -m 777 "$1" && $root mount -t tmpfs -o "size=$2m,mode=777" latchkey-test "$1" || { rmdir "$1"; exit 1; }
        echo mounted
        read -r word
        $root umount -l "$1"
        rmdir "$1"
        """
}
