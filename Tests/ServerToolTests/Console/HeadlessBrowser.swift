import Foundation
import LatchkeySystem

/// Chromium without a window, on one page, until it is ended.
final class HeadlessBrowser: Sendable {
    enum Scheme: Int, Sendable { case dark = 0, light = 1 }

    private static let path = "/usr/bin/chromium"
    static var isInstalled: Bool { FileManager.default.isExecutableFile(atPath: path) }

    private let process = Subprocess()
    private let log: URL
    private let ended: AsyncStream<Void>

    /// - Parameters:
    ///   - address: the page.
    ///   - scheme: which color scheme the viewer prefers.
    ///   - profile: a folder for the browser.
    init(_ address: String, scheme: Scheme, profile: URL) throws {
        log = profile.appendingPathExtension("log")
        try Data().write(to: log)
        let (ended, ending) = AsyncStream<Void>.makeStream()
        self.ended = ended
        process.executableURL = URL(filePath: Self.path)
        process.arguments = [
            "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--disable-popup-blocking",
            "--enable-logging=stderr", "--remote-debugging-port=0", "--user-data-dir=\(profile.path)",
            "--blink-settings=preferredColorScheme=\(scheme.rawValue)", address,
        ]
        process.standardOutput = FileHandle.nullDevice
        process.standardError = try FileHandle(forWritingTo: log)
        process.terminationHandler = { _ in ending.finish() }
        try process.run()
    }

    deinit { if process.isRunning { process.terminate() } }

    /// Ends the browser.
    /// - Parameter last: the last line that it logs. A page's requests may overtake its messages.
    /// - Returns: the lines of its log.
    func end(after last: String) async -> [String] {
        while process.isRunning, !lines.contains(where: { $0.contains(last) }) { await Task.yield() }
        process.terminate()
        for await _ in ended {}
        return lines
    }

    private var lines: [String] {
        let text = (try? Data(contentsOf: log)).map { String(decoding: $0, as: UTF8.self) } ?? ""
        return text.split(separator: "\n").map(String.init)
    }
}
