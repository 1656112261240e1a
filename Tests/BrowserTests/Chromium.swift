import Foundation
import LatchkeyCore
import LatchkeySystem
import LatchkeyTesting

/// Headless Chromium with a separate profile, controlled by the DevTools protocol over a pipe.
///
/// It ends with the last reference to it and with the process: Chromium ends when its pipe closes, and its profile is deleted with it.
///
/// Source: https://chromedevtools.github.io/devtools-protocol/
final class Chromium: Sendable {
    /// The program; `nil` if it is not installed.
    static let path = ProcessInfo.processInfo.environment["PATH"]?.split(separator: ":")
        .flatMap { folder in ["chromium", "chromium-browser", "google-chrome"].map { "\(folder)/\($0)" } }
        .first { FileManager.default.isExecutableFile(atPath: $0) }
    static var isThere: Bool { path != nil }
    static let whyNot = "Chromium is not there; make engines installs it"

    /// Chromium ended, or refused a command.
    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    /// The members of a command's answer, or of an event, as JSON.
    typealias Values = [String: JSON]

    private struct State: Sendable {
        var nextID = 1
        var waiting: [Int: CheckedContinuation<Values, any Error>] = [:]
        var listeners: [String: @Sendable (_ method: String, Values) -> Void] = [:]
        var hasEnded = false
    }

    private let process: Subprocess
    private let commands: FileHandle
    private let state: Locked<State>
    private let folder: TemporaryFolder

    /// One for each page: a page among others may count as hidden, and shows no picture then.
    init() throws {
        folder = try TemporaryFolder()
        process = Subprocess()
        process.executableURL = URL(filePath: "/bin/sh")
        // Chromium reads commands from descriptor 3 and answers on 4.
        process.arguments = [
            "-c", "folder=$0; \"$@\" 3<&0 4>&1 </dev/null >/dev/null 2>&1; rm -rf \"$folder\"", folder.url.path,
            Self.path ?? "", "--headless=new", "--no-sandbox", "--remote-debugging-pipe",
            "--user-data-dir=\(folder.path("profile"))",
            "--autoplay-policy=no-user-gesture-required",
            "--disable-gpu", "--disable-dev-shm-usage", "--disable-background-networking", "--disable-component-update",
            "--disable-extensions", "--disable-renderer-backgrounding", "--disable-backgrounding-occluded-windows",
            "--disable-background-timer-throttling", "--disable-sync", "--mute-audio", "--no-default-browser-check",
            "--no-first-run",
            "about:blank",
        ]
        let (input, output) = (Pipe(), Pipe())
        process.standardInput = input
        process.standardOutput = output
        commands = input.fileHandleForWriting
        let state = Locked(State())
        self.state = state
        try process.run()
        let answers = output.fileHandleForReading
        // A thread, because reading blocks.
        Thread.detachNewThread { Self.read(answers, state) }
    }

    // Whoever waits for it gets an error.
    deinit { try? commands.close() }

    /// Opens a page.
    /// - Parameters:
    ///   - address: its address.
    ///   - width: the window's width in pixels.
    ///   - isDark: whether the viewer likes dark pages.
    func open(_ address: String, width: Int = 1_024, isDark: Bool = false) async throws -> ChromiumPage {
        let context = try await send("Target.createBrowserContext")["browserContextId"] ?? .null
        let target = try await send("Target.createTarget", ["url": .text("about:blank"), "browserContextId": context])
        let session = try await send(
            "Target.attachToTarget", ["targetId": target["targetId"] ?? .null, "flatten": .flag(true)])
        let page = ChromiumPage(self, session: session["sessionId"]?.text ?? "", context: context)
        try await page.open(address, width: width, isDark: isDark)
        return page
    }

    /// Hears the events of a page.
    func listen(to session: String, _ listener: @escaping @Sendable (_ method: String, Values) -> Void) {
        state.withLock { $0.listeners[session] = listener }
    }

    /// Sends a command and waits for its answer.
    @discardableResult
    func send(_ method: String, _ parameters: Values = [:], session: String? = nil) async throws -> Values {
        let id = state.withLock { state in
            defer { state.nextID += 1 }
            return state.nextID
        }
        var message: Values = ["id": .number(Double(id)), "method": .text(method), "params": .object(parameters)]
        message["sessionId"] = session.map(JSON.text)
        let bytes = JSON.object(message).bytes + [0]
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let isWaiting = state.withLock { state in
                    guard !state.hasEnded, !Task.isCancelled else { return false }
                    state.waiting[id] = continuation
                    return true
                }
                guard isWaiting else { return continuation.resume(throwing: Failure(description: "Nobody answers.")) }
                // An error means that Chromium ended, which the reader finds, too.
                try? commands.write(contentsOf: bytes)
            }
        } onCancel: {
            state.withLock { $0.waiting.removeValue(forKey: id) }?.resume(throwing: CancellationError())
        }
    }

    private static func read(_ answers: FileHandle, _ state: Locked<State>) {
        var rest = Data()
        while true {
            let more = answers.availableData
            if more.isEmpty { break }
            // Only the new bytes are searched: an answer may have megabytes.
            let pieces = more.split(separator: 0, omittingEmptySubsequences: false)
            for (index, piece) in pieces.enumerated() {
                rest += piece
                guard index < pieces.count - 1 else { break }
                if case .object(let message)? = JSON(rest) { take(message, state) }
                rest = Data()
            }
        }
        let waiting = state.withLock { state in
            defer { state.waiting = [:] }
            state.hasEnded = true
            return state.waiting
        }
        for continuation in waiting.values { continuation.resume(throwing: Failure(description: "Chromium ended.")) }
    }

    private static func take(_ message: Values, _ state: Locked<State>) {
        if case .number(let id)? = message["id"] {
            let continuation = state.withLock { $0.waiting.removeValue(forKey: Int(id)) }
            if case .object(let error)? = message["error"] {
                continuation?.resume(throwing: Failure(description: error["message"]?.text ?? "The command failed."))
            } else {
                continuation?.resume(returning: message["result"]?.members ?? [:])
            }
        } else if let method = message["method"]?.text, let session = message["sessionId"]?.text {
            let listener = state.withLock { $0.listeners[session] }
            listener?(method, message["params"]?.members ?? [:])
        }
    }
}

/// JSON, as the protocol speaks it.
enum JSON: Sendable, Hashable {
    case null
    case flag(Bool)
    case number(Double)
    case text(String)
    case array([JSON])
    case object([String: JSON])

    var text: String? { if case .text(let text) = self { text } else { nil } }
    var number: Double? { if case .number(let number) = self { number } else { nil } }
    var elements: [JSON]? { if case .array(let elements) = self { elements } else { nil } }
    var members: [String: JSON]? { if case .object(let members) = self { members } else { nil } }

    init?(_ bytes: Data) {
        guard let value = try? JSONDecoder().decode(JSON.self, from: bytes) else { return nil }
        self = value
    }

    var bytes: Data { (try? JSONEncoder().encode(self)) ?? Data() }
}

extension JSON: Codable {
    init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        // The most frequent first: each wrong guess costs an error.
        if let text = try? container.decode(String.self) {
            self = .text(text)
        } else if let members = try? container.decode([String: JSON].self) {
            self = .object(members)
        } else if let array = try? container.decode([JSON].self) {
            self = .array(array)
        } else if let number = try? container.decode(Double.self) {
            self = .number(number)
        } else if let flag = try? container.decode(Bool.self) {
            self = .flag(flag)
        } else {
            self = .null
        }
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch self {
        case .null: try container.encodeNil()
        case .flag(let flag): try container.encode(flag)
        case .number(let number) where number == number.rounded(): try container.encode(Int(number))
        case .number(let number): try container.encode(number)
        case .text(let text): try container.encode(text)
        case .array(let array): try container.encode(array)
        case .object(let members): try container.encode(members)
        }
    }
}
