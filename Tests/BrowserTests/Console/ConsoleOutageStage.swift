import Foundation
import LatchkeyHTTP
import Testing

@testable import LatchkeyLicensing
@testable import LatchkeyServer
@testable import LatchkeyServerTool
@testable import LatchkeySystem
@testable import LatchkeyVault
@testable import TestServers

#if canImport(FoundationNetworking)
    import FoundationNetworking
    @testable import LatchkeyLicensing
    @testable import LatchkeyDecision
#endif

/// A running server whose dependencies a test takes away: the stores, the operator's own service, the key set.
final class ConsoleOutageStage: Sendable {
    /// The dependency that is taken away.
    enum Sabotage: String, CaseIterable, Sendable {
        case keys, audit, sessions, callout, keySet

        /// The rows of the console's table that show it.
        var rows: Set<String> {
            switch self {
            case .keys: ["The key store"]
            case .audit: ["The audit store"]
            case .sessions: ["The session store", "The used-token store"]
            case .callout: ["The callout of demo"]
            case .keySet: ["The key set for tokens of demo"]
            }
        }

        /// The notice above all figures.
        var notice: String {
            switch self {
            case .keySet: "The key set cannot be used."
            // Only its writes are tried.
            case .audit: "accepts no writes"
            case .keys, .sessions, .callout: "does not answer"
            }
        }

        /// The reason in the row.
        var error: String {
            switch self {
            case .keys, .audit, .sessions: "The test took it away."
            case .callout: "500"
            case .keySet: "key"
            }
        }
    }

    /// The clock by which the store of keys answers.
    let clock = ManualTimekeeper(date: Date())
    private let test: TestServer
    private let (keys, audit) = (SwitchedDatabase(), SwitchedDatabase())
    private let sessions = SwitchedRecordStore()
    private let isServiceDown: Locked<Bool>
    private let service: HTTPServer
    private let pages: BrowserPages

    var server: LicenseServer { test.server }

    init() async throws {
        let isServiceDown = Locked(false)
        self.isServiceDown = isServiceDown
        service = HTTPServer { _ in HTTPResponse(status: isServiceDown.withLock { $0 } ? 500 : 200) }
        let folder = try ServerFolder(["tenants.demo.callout.url": "http://127.0.0.1:\(service.start())/"])
        try await TestServer.seal("demo", in: keys, folder)
        test = try await TestServer(folder, over: keys, audit: audit, sessions: sessions, asking: clock, hasCopy: false)
        pages = try BrowserPages()
        try await test.importKeys(1...1)
    }

    // The task ends with the stop, which waits for no request.
    deinit { Task { [service] in await service.stop(within: .zero) } }

    /// The console's first page, with an operator signed in.
    func console(width: Int = 1_200) async throws -> ChromiumPage {
        let page = try await pages.open(server.addresses.operators.url, width: width)
        try await page.signIn(TestServer.key(.security))
        try await page.wait(until: "document.querySelector('.legend')")
        return page
    }

    /// Takes something away, or brings it back, and lets the server notice it as its clock and its licenses do.
    func set(_ sabotage: Sabotage, isAway: Bool) async throws {
        switch sabotage {
        case .keys: keys.setDown(isAway)
        case .audit: audit.setDown(isAway)
        case .sessions: sessions.setDown(isAway)
        case .callout: isServiceDown.withLock { $0 = isAway }
        case .keySet:
            let (set, kept) = (test.folder.file("jwks.json"), test.root.file("kept.json"))
            if isAway { try FileManager.default.copyItem(at: set, to: kept) }
            try (isAway ? Data("{}".utf8) : Data(contentsOf: kept)).write(to: set)
        }
        await ask()
    }

    /// Asks everything that the server asks.
    func ask() async {
        await server.shared.look(atLeastEvery: .zero)
        // The failure is the point of the test.
        try? await server.current.tenants["demo"]?.tokenKeys?.reload()
        _ = try? await license()
    }

    /// Asks for a license as a new viewer.
    /// - Parameter token: the viewer's; a good one if it is `nil`.
    @discardableResult
    func license(token: String? = nil) async throws -> Int { try await test.license(1, token: token).status }

    /// The pixels of the page's table of engines. Kept as `NAME.png` in the folder of `LATCHKEY_PICTURES`, if there is one.
    func picture(of page: ChromiumPage, as name: String) async throws -> Picture {
        let png = try #require(try await page.picture(of: "section.engines"))
        if let kept = ProcessInfo.processInfo.environment["LATCHKEY_PICTURES"] {
            try png.write(to: URL(filePath: kept).appending(path: "\(name).png"))
        }
        return try await Picture(png: png, in: test.root)
    }
}

/// A row of the console's table of the server's dependencies.
struct EngineRow: Equatable {
    let what, engine, state, since, error: String

    var isAway: Bool { ["does not answer", "accepts no writes"].contains(state) }
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

    /// Waits until the rows of unavailable engines are these.
    func wait(untilAway rows: Set<String>) async throws {
        let away =
            "[...document.querySelectorAll('section.engines tbody tr')].filter(row => /^(does not answer|accepts no writes)$/.test(row.cells[2].innerText))"
        let names = rows.sorted().map { "'\($0)'" }.joined(separator: ",")
        try await wait(
            until: "JSON.stringify(\(away).map(row => row.cells[0].innerText).sort()) === JSON.stringify([\(names)])")
    }
}

extension Picture {
    /// How many pixels have a color, within the tolerance of drawn text.
    func count(of color: [UInt8]) -> Int {
        stride(from: 0, to: pixels.count - 2, by: 3).count { place in
            (0..<3).allSatisfy { abs(Int(pixels[place + $0]) - Int(color[$0])) < 24 }
        }
    }
}
