import Foundation
import LatchkeyCore
import LatchkeyHTTP
import LatchkeyTesting
import SwitchedStores
import Testing

@testable import LatchkeyEngines
@testable import LatchkeyOperation
@testable import LatchkeyServer
@testable import LatchkeyServerTool
@testable import LatchkeyVault

#if canImport(FoundationNetworking)
    import FoundationNetworking
    @testable import LatchkeyLicensing
    @testable import LatchkeyTokens
#endif

/// A running server of which a test takes away what it asks: the stores, the operator's own service, the key set.
final class ConsoleOutageStage: Sendable {
    /// What is taken away.
    enum Sabotage: String, CaseIterable, Sendable {
        case keys, audit, sessions, callout, keySet

        /// The rows of the console's table that say so.
        var rows: Set<String> {
            switch self {
            case .keys: ["The store of keys"]
            case .audit: ["The store of the audit"]
            case .sessions: ["The store of sessions", "The store of used tokens"]
            case .callout: ["The callout of demo"]
            case .keySet: ["The key set for tokens of demo"]
            }
        }

        /// What stands above all figures.
        var notice: String { self == .keySet ? "The key set cannot be used." : "does not answer" }

        /// What the row says of why.
        var error: String {
            switch self {
            case .keys, .audit, .sessions: "The test took it away."
            case .callout: "500"
            case .keySet: "key"
            }
        }
    }

    let server: LicenseServer
    /// The clock by which the store of keys answers.
    let clock = ManualTimekeeper(date: Date())
    private let folder: TemporaryFolder
    private let demo: DemoFolder
    private let (keys, audit) = (SwitchedDatabase(), SwitchedDatabase())
    private let sessions = SwitchedRecordStore()
    private let isServiceDown: Locked<Bool>
    private let service: HTTPServer
    private let browser: Chromium
    private let pages = Locked<[ChromiumPage]>([])

    private init() async throws {
        let isServiceDown = Locked(false)
        self.isServiceDown = isServiceDown
        service = HTTPServer { _ in HTTPResponse(status: isServiceDown.withLock { $0 } ? 500 : 200) }
        let port = try service.start()
        folder = try TemporaryFolder()
        demo = try DemoFolder(folder.file("demo"), ports: [0, 0, 0])
        let text = try String(contentsOfFile: demo.configuration, encoding: .utf8).replacing(
            #""clearKey": true,"#, with: #""clearKey": true, "callout": {"url": "http://127.0.0.1:\#(port)/"},"#
        ).replacing(#""stores": {"#, with: #""stores": {"sessionMilliseconds": 10000, "#)
        try Data(text.utf8).write(to: URL(filePath: demo.configuration))
        let file = try ConfigurationFile(demo.configuration)
        let wrapper = try KeyEncryptionKey(try #require(file.settings.keyEncryptionKey), in: file.secrets)
        _ = try await TenantSecrets.create("demo", in: keys, with: KeyEncryptionKeys(wrapper))
        let (keys, audit) = (keys, audit)
        let guarded = GuardedKeyStore(
            keys, health: EngineHealth("keyStore", engine: keys.engine, timekeeper: clock),
            question: { () throws(StoreError) in try keys.ask() })
        let engines = ServerEngines(
            settings: file.settings.stores, sessions: sessions, keys: guarded, audit: audit,
            auditProbe: { () throws(StoreError) in try audit.ask() },
            changes: { () throws(StoreError) in AsyncStream { $0.finish() } })
        server = try await LicenseServer(file, lines: LineWriter { _ in }, engines: engines)
        browser = try Chromium()
        try await importKey()
    }

    /// Brings the key that licenses are asked for.
    private func importKey() async throws {
        var request = URLRequest(
            url: try #require(URL(string: "\(server.addresses.operators.url)/admin/v1/tenants/demo/cpix")))
        request.httpMethod = "POST"
        request.httpBody = Data(
            """
            <cpix:CPIX xmlns:cpix="urn:dashif:org:cpix" xmlns:pskc="urn:ietf:params:xml:ns:keyprov:pskc" contentId="film" \
            version="2.3"><cpix:ContentKeyList><cpix:ContentKey kid="00010203-0405-0607-0809-0a0b0c0d0e0f" \
            explicitIV="AwMDAwMDAwMDAwMDAwMDAw=="><cpix:Data><pskc:Secret><pskc:PlainValue>AgICAgICAgICAgICAgICAg==\
            </pskc:PlainValue></pskc:Secret></cpix:Data></cpix:ContentKey></cpix:ContentKeyList></cpix:CPIX>
            """.utf8)
        request.setValue("Bearer \(demo.adminKey.revealedText)", forHTTPHeaderField: "Authorization")
        let reply = try await URLSession.shared.data(for: request)
        try #require((reply.1 as? HTTPURLResponse)?.statusCode == 200)
    }

    /// Runs a test on a stage, and takes it down whatever happens.
    static func with(_ body: (ConsoleOutageStage) async throws -> Void) async throws {
        let stage = try await ConsoleOutageStage()
        let result: Result<Void, any Error>
        do { result = .success(try await body(stage)) } catch { result = .failure(error) }
        for page in stage.pages.withLock({ $0 }) { await page.close() }
        await stage.server.stop(within: .zero)
        await stage.service.stop(within: .zero)
        try result.get()
    }

    /// The console's first page, with an operator signed in.
    func console(width: Int = 1_200) async throws -> ChromiumPage {
        let page = try await browser.open(server.addresses.operators.url, width: width)
        pages.withLock { $0.append(page) }
        try await page.signIn(demo.adminKey.revealedText)
        try await page.wait(until: "document.querySelector('.legend')")
        return page
    }

    /// Takes something away, or has it back, and lets the server notice it as its clock and its licenses do.
    func set(_ sabotage: Sabotage, isAway: Bool) async throws {
        switch sabotage {
        case .keys: keys.setDown(isAway)
        case .audit: audit.setDown(isAway)
        case .sessions: sessions.setDown(isAway)
        case .callout: isServiceDown.withLock { $0 = isAway }
        case .keySet:
            let (set, kept) = (demo.url.appending(path: "jwks.json"), folder.file("kept.json"))
            if isAway { try FileManager.default.copyItem(at: set, to: kept) }
            try (isAway ? Data("{}".utf8) : Data(contentsOf: kept)).write(to: set)
        }
        await ask()
    }

    /// Asks everything that the server asks.
    func ask() async {
        await server.shared.look(atLeastEvery: .zero)
        // That it fails is what is shown.
        try? await server.current.tenants["demo"]?.tokenKeys?.reload()
        _ = try? await license()
    }

    /// Asks for a license as a viewer of whom nobody knows yet.
    /// - Parameter token: the viewer's; a good one if it is `nil`.
    @discardableResult
    func license(token: String? = nil) async throws -> Int? {
        let token =
            try token ?? DemoFolder.token(in: demo.url, for: "viewer-\(UUID().uuidString)", at: Date()).revealedText
        let url = "\(server.addresses.players.url)/t/demo/clearkey"
        var request = URLRequest(url: try #require(URL(string: url)))
        request.httpMethod = "POST"
        request.httpBody = Data(#"{"kids":["AAECAwQFBgcICQoLDA0ODw"],"type":"temporary"}"#.utf8)
        request.setValue("Bearer \(token)", forHTTPHeaderField: "Authorization")
        request.setValue("application/json", forHTTPHeaderField: "Content-Type")
        return (try await URLSession.shared.data(for: request).1 as? HTTPURLResponse)?.statusCode
    }

    /// The pixels of what the page shows of the server's engines. Kept as `NAME.png` in the folder of `LATCHKEY_PICTURES`, if there is one.
    func picture(of page: ChromiumPage, as name: String) async throws -> Picture {
        let png = try #require(try await page.picture(of: "section.engines"))
        if let kept = ProcessInfo.processInfo.environment["LATCHKEY_PICTURES"] {
            try png.write(to: URL(filePath: kept).appending(path: "\(name).png"))
        }
        return try await Picture(png: png, in: folder)
    }
}

/// A row of the console's table of what the server asks.
struct EngineRow: Equatable {
    let what, engine, state, since, error: String

    var isAway: Bool { state == "does not answer" }
}

extension ChromiumPage {
    /// The rows of the engines' table, in which narrow windows show headings, too.
    func engines() async throws -> [EngineRow] {
        let rows = "document.querySelectorAll('section.engines tbody tr')"
        let text = "[...\(rows)].map(row => [...row.cells].map(cell => cell.innerText))"
        return (try await value(text).elements ?? []).compactMap { row in
            let cells = row.elements?.compactMap(\.text) ?? []
            guard cells.count == 5 else { return nil }
            return EngineRow(what: cells[0], engine: cells[1], state: cells[2], since: cells[3], error: cells[4])
        }
    }

    /// Waits until the rows of what is away are these.
    func wait(untilAway rows: Set<String>) async throws {
        let away =
            "[...document.querySelectorAll('section.engines tbody tr')].filter(row => row.cells[2].innerText === 'does not answer')"
        let names = rows.sorted().map { "'\($0)'" }.joined(separator: ",")
        try await wait(
            until: "JSON.stringify(\(away).map(row => row.cells[0].innerText).sort()) === JSON.stringify([\(names)])")
    }
}

extension Picture {
    /// How many pixels have a color, give or take what drawing text makes of it.
    func count(of color: [UInt8]) -> Int {
        stride(from: 0, to: pixels.count - 2, by: 3).count { place in
            (0..<3).allSatisfy { abs(Int(pixels[place + $0]) - Int(color[$0])) < 24 }
        }
    }
}
