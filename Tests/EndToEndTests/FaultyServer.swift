import Foundation
import Latchkey
import LatchkeyDevice
import LatchkeyFairPlay
import LatchkeyVendors
import Testing

@testable import LatchkeyServerTool
@testable import TestServers

#if canImport(FoundationNetworking)
    import FoundationNetworking
    import LatchkeySystem
#endif

/// `latchkey-server run` as a separate process, for faults that a test cannot have in its own process.
final class FaultyServer: @unchecked Sendable {
    // Sound because a test uses it from one task.
    private let process: Subprocess
    private let ended: Task<Int32, Never>
    private let log: URL
    let folder: ServerFolder
    /// The listeners' addresses, by their names, from the log.
    private(set) var listeners: [String: String] = [:]

    static let program = ToolProcess.binary("latchkey-server")

    /// Starts it and waits until it accepts requests.
    /// - Parameter limit: a shell command to run first, such as `ulimit -f 600`.
    init(_ folder: ServerFolder, limit: String = ":") async throws {
        self.folder = folder
        try await folder.makeTenants()
        log = folder.root.file("log-\(UUID().uuidString)")
        try Data().write(to: log)
        process = ToolProcess.make(
            program: "/bin/bash",
            ["-c", "\(limit); exec \"$0\" run --config \"$1\"", Self.program ?? "", folder.configuration])
        process.standardOutput = FileHandle.nullDevice
        process.standardError = try FileHandle(forWritingTo: log)
        let (ends, end) = AsyncStream.makeStream(of: Int32.self)
        process.terminationHandler = {
            end.yield($0.terminationReason == .exit ? $0.terminationStatus : 128 + $0.terminationStatus)
        }
        ended = Task { await ends.first { _ in true } ?? -1 }
        try process.run()
        while !lines.contains(where: { $0.contains("The server accepts requests.") }) {
            try #require(process.isRunning, "\(text)")
            try Task.checkCancellation()
            await Task.yield()
        }
        for entry in entries {
            if let name = entry["listener"] as? String, let url = entry["url"] as? String { listeners[name] = url }
        }
        try #require(listeners.count == 3, "\(text)")
    }

    deinit { process.send(SIGKILL) }

    var text: String { (try? String(contentsOf: log, encoding: .utf8)) ?? "" }
    /// Whole lines of the log.
    var lines: [Substring] { text.split(separator: "\n", omittingEmptySubsequences: true) }
    /// The lines as JSON; an invalid line is an empty entry.
    var entries: [[String: Any]] {
        lines.map { (try? JSONSerialization.jsonObject(with: Data($0.utf8))) as? [String: Any] ?? [:] }
    }
    var isRunning: Bool { process.isRunning }

    func send(_ signal: Int32) { process.send(signal) }

    /// Sends a signal, and returns the status; 128 and the signal's number if a signal ended it.
    func end(by signal: Int32) async -> Int32 {
        send(signal)
        return await ended.value
    }

    /// Waits until the log holds a text as often as that.
    func untilLogged(_ wanted: String, times: Int = 1) async throws {
        while lines.count(where: { $0.contains(wanted) }) < times {
            try #require(process.isRunning, "\(text)")
            try Task.checkCancellation()
            await Task.yield()
        }
    }

    func ask(
        _ listener: String, _ path: String, _ method: String = "GET", _ body: Data? = nil,
        headers: [String: String] = [:]
    ) async throws -> HTTPReply {
        let url = try #require(URL(string: (listeners[listener] ?? "") + path))
        var request = URLRequest(url: url, timeoutInterval: 60)
        request.httpMethod = method
        request.httpBody = body
        for (name, value) in headers { request.setValue(value, forHTTPHeaderField: name) }
        return try await SystemTransport().send(request, bodyLimit: 1 << 20)
    }

    /// Asks for a license of a new session.
    func license(for viewer: String) async throws -> Int {
        var generator = SystemRandomNumberGenerator()
        let exchange = try SimulatedDevice(directory: URL(filePath: folder.credentials)).exchange(
            for: ContentIdentifier("skd://movie/a0b1c2d3-e4f5-0617-2839-4a5b6c7d8e9f"), using: &generator)
        let token = try DemoFolder.token(in: folder.url, for: viewer, at: Date()).revealedText
        return try await ask(
            "players", "/t/demo/fairplay", "POST", exchange.spc.revealed, headers: ["Authorization": "Bearer \(token)"]
        ).status
    }

    func admin(_ path: String, _ method: String = "POST") async throws -> HTTPReply {
        try await ask(
            "operators", "/admin/v1/\(path)", method, method == "POST" ? Data("{}".utf8) : nil,
            headers: ["Authorization": "Bearer \(folder.adminKey.revealedText)"])
    }

    /// Imports a key of separate content.
    func importKey(_ kid: UUID, content: String) async throws -> HTTPReply {
        let document = """
            <cpix:CPIX xmlns:cpix="urn:dashif:org:cpix" xmlns:pskc="urn:ietf:params:xml:ns:keyprov:pskc" \
            contentId="\(content)" version="2.3"><cpix:ContentKeyList><cpix:ContentKey kid="\(kid.uuidString.lowercased())" \
            explicitIV="AgICAgICAgICAgICAgICAg==" commonEncryptionScheme="cbcs"><cpix:Data><pskc:Secret><pskc:PlainValue>\
            AQEBAQEBAQEBAQEBAQEBAQ==</pskc:PlainValue></pskc:Secret></cpix:Data></cpix:ContentKey></cpix:ContentKeyList></cpix:CPIX>
            """
        return try await ask("packagers", "/t/demo/cpix", "POST", Data(document.utf8), headers: packager)
    }

    /// Whether a content's key exists.
    func holdsKey(of content: String) async throws -> Bool {
        let reply = try await ask("packagers", "/t/demo/cpix?content=\(content)", headers: packager)
        return reply.status == 200 && String(decoding: reply.body, as: UTF8.self).contains("AQEBAQEBAQEBAQEBAQEBAQ==")
    }

    private var packager: [String: String] {
        ["X-API-Key": folder.packagerKey.revealedText, "Content-Type": "application/xml"]
    }
}
