import Foundation
import Latchkey
import LatchkeyCore
import LatchkeyDevice
import LatchkeyFiles
import LatchkeyTesting
import LatchkeyVendors
import Testing

@testable import LatchkeyOperation
@testable import LatchkeyServer
@testable import LatchkeyServerTool

#if canImport(FoundationNetworking)
    import FoundationNetworking
    import LatchkeyFairPlay
#endif

extension DemoFolder {
    /// What all tests share: making an RSA key takes longer than starting a server.
    private static let credentials = Result { try TestCredentials.make(bits: 2048) }

    /// A demonstration on free ports, whose store of sessions is not out of service where a machine is busy.
    static func patient(in root: TemporaryFolder) throws -> DemoFolder {
        let folder = try DemoFolder(root.file("demo"), ports: [0, 0, 0], credentials: credentials.get())
        try ServerStage.edit(folder.configuration) {
            $0 = $0.replacing(#""stores": {"#, with: #""stores": {"sessionMilliseconds": 10000, "#)
        }
        return folder
    }
}

/// A server of a demonstration's folder on free ports, and requests to it.
struct ServerStage {
    static let kid = "a0b1c2d3-e4f5-0617-2839-4a5b6c7d8e9f"

    let root: TemporaryFolder
    let folder: DemoFolder
    let server: LicenseServer
    let time: any Timekeeper

    /// The log.
    let log = Locked(Data())

    /// - Parameters:
    ///   - change: changes the configuration before the server reads it.
    ///   - prepare: puts more into the configuration's folder.
    ///   - threads: where the server reads files. Defaults to its usual ones.
    ///   - time: the server's clock. Defaults to the machine's.
    init(
        _ change: (inout String) -> Void = { _ in }, prepare: (URL) throws -> Void = { _ in },
        threads: FileThreads = FileThreads(), time: any Timekeeper = SystemTimekeeper()
    ) async throws {
        self.time = time
        root = try TemporaryFolder()
        folder = try DemoFolder.patient(in: root)
        try Self.edit(folder.configuration, change)
        try prepare(folder.url)
        try await folder.makeTenants()
        let log = log
        server = try await LicenseServer(
            ConfigurationFile(folder.configuration, threads: threads),
            lines: LineWriter { line in log.withLock { $0.append(line) } }, timekeeper: time)
    }

    /// Another server of a stage's folder.
    init(_ former: ServerStage, _ server: LicenseServer) {
        (root, folder, time) = (former.root, former.folder, former.time)
        self.server = server
    }

    static func edit(_ path: String, _ change: (inout String) -> Void) throws {
        var text = try String(contentsOfFile: path, encoding: .utf8)
        change(&text)
        try Data(text.utf8).write(to: URL(filePath: path))
    }

    func stop() async { await server.stop() }

    func token(for viewer: String = "anna") throws -> String {
        try DemoFolder.token(in: folder.url, for: viewer, at: time.date).revealedText
    }

    func exchange(_ identifier: String = "skd://movie/\(kid)") throws -> KeyExchange {
        var generator = SystemRandomNumberGenerator()
        return try SimulatedDevice(directory: URL(filePath: folder.credentials))
            .exchange(for: ContentIdentifier(identifier), using: &generator)
    }

    func send(
        _ url: String, method: String = "GET", body: Data? = nil, bearer: String? = nil, headers: [String: String] = [:]
    ) async throws -> HTTPReply {
        var request = URLRequest(url: try #require(URL(string: url)))
        request.httpMethod = method
        request.httpBody = body
        if let bearer { request.setValue("Bearer \(bearer)", forHTTPHeaderField: "Authorization") }
        for (name, value) in headers { request.setValue(value, forHTTPHeaderField: name) }
        return try await SystemTransport().send(request, bodyLimit: 1 << 20)
    }

    /// A license request of a new session.
    func license(for viewer: String = "anna", headers: [String: String] = [:]) async throws -> (HTTPReply, KeyExchange)
    {
        let exchange = try exchange()
        let reply = try await send(
            "\(server.addresses.players.url)/t/demo/fairplay", method: "POST", body: exchange.spc.revealed,
            bearer: token(for: viewer), headers: headers)
        return (reply, exchange)
    }

    var admin: String { folder.adminKey.revealedText }
}

extension HTTPReply {
    var text: String { String(decoding: body, as: UTF8.self) }
}
