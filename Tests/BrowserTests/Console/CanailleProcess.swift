import Foundation
import LatchkeyCore
import LatchkeySystem
import LatchkeyTesting
import TLSPeer

/// Canaille, a third-party OpenID provider, as an unprivileged process on a free loopback port; it ends with the process that started it.
///
/// Source: https://canaille.readthedocs.io, 2026-11-27.
final class CanailleProcess: Sendable {
    private static let root = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../..")
        .standardized
    private static let packages = root.appending(path: ".build/python-tools")
    static var isInstalled: Bool {
        let files = [packages.appending(path: "canaille").path, "/usr/bin/setpriv"]
        return files.allSatisfy { FileManager.default.fileExists(atPath: $0) }
    }

    static let password = "correct horse"
    static let clientSecret = "not a secret: a test's"
    let issuer: String
    private let process: Locked<Subprocess>
    private let input: Pipe
    private let lines: Lines

    /// Starts it, and waits until it accepts connections.
    /// - Parameters:
    ///   - folder: for its certificate, `provider.pem`; others have to be able to read it.
    ///   - console: the console's address.
    init(in folder: TemporaryFolder, console: String) async throws {
        let certificate = try SelfSigned()
        try Data(certificate.certificate.utf8).write(to: folder.file("provider.pem"))
        try Data(certificate.privateKey.utf8).write(to: folder.file("provider-key.pem"))
        let process = Subprocess()
        process.executableURL = URL(filePath: "/usr/bin/setpriv")
        let user = geteuid() == 0 ? ["--reuid", "65534", "--regid", "65534", "--clear-groups"] : []
        process.arguments =
            ["--pdeathsig", "KILL"] + user + [
                "/usr/bin/env", "PYTHONPATH=\(Self.packages.path)", "PYTHONDONTWRITEBYTECODE=1", "python3",
                Self.root.appending(path: "Tests/Support/OpenIDProvider/canaille_provider.py").path,
                folder.path("provider.pem"), folder.path("provider-key.pem"), "\(console)/sign-in/callback",
                "\(console)/",
            ]
        let (output, input, lines) = (Pipe(), Pipe(), Lines())
        process.standardOutput = output
        process.standardInput = input
        (self.process, self.input, self.lines) = (Locked(process), input, lines)
        // It dies with the thread that started it, so that thread waits for its end.
        let running = self.process
        Thread.detachNewThread {
            _ = try? running.withLock { try $0.run() }
            while case let data = output.fileHandleForReading.availableData, !data.isEmpty { lines.append(data) }
            lines.end()
        }
        issuer = try await lines.next("issuer ")
    }

    deinit { stop() }

    func stop() {
        process.withLock { if $0.isRunning { kill($0.processIdentifier, SIGKILL) } }
    }

    /// Makes it sign with another key from now on.
    func rotate() async throws {
        try input.fileHandleForWriting.write(contentsOf: Data("rotate\n".utf8))
        _ = try await lines.next("rotated")
    }

    /// Its output, line by line.
    private final class Lines: Sendable {
        private let stream: AsyncStream<String>
        private let continuation: AsyncStream<String>.Continuation
        private let rest = Locked("")

        init() { (stream, continuation) = AsyncStream.makeStream() }

        func append(_ data: Data) {
            rest.withLock { rest in
                rest += String(decoding: data, as: UTF8.self)
                while let end = rest.firstIndex(of: "\n") {
                    continuation.yield(String(rest[..<end]))
                    rest = String(rest[rest.index(after: end)...])
                }
            }
        }

        func end() { continuation.finish() }

        /// The text behind a word in the next line that begins with it.
        func next(_ word: String) async throws -> String {
            for await line in stream where line.hasPrefix(word) { return String(line.dropFirst(word.count)) }
            throw Chromium.Failure(description: "Canaille ended.")
        }
    }
}
