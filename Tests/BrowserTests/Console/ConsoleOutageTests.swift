import Foundation
import Testing

@testable import LatchkeyServer
@testable import LatchkeyServerTool
@testable import LatchkeySystem
@testable import LatchkeyVault
@testable import TestServers

extension ConsoleInChromium {
    /// The console's view of a server that lacks something.
    @Suite(.timeLimit(.minutes(10))) struct ConsoleOutageTests {
        /// The color of a problem.
        private static let red: [UInt8] = [0xd0, 0x3b, 0x3b]

        /// Whether a text is a time in UTC, as the console writes it.
        private static func isDate(_ text: String) -> Bool {
            text.wholeMatch(of: /[0-9]{4}-[0-9]{2}-[0-9]{2} [0-9]{2}:[0-9]{2}:[0-9]{2}/) != nil
        }

        @Test func `a healthy server shows no outage line and nothing in red`() async throws {
            let stage = try await ConsoleOutageStage()
            await stage.ask()
            let page = try await stage.console()
            try await page.wait(until: "document.querySelectorAll('section.engines tbody tr').length === 6")
            let engines = try await page.engines()
            let all = ConsoleOutageStage.Sabotage.allCases.reduce(into: Set<String>()) { $0.formUnion($1.rows) }
            #expect(Set(engines.map(\.what)) == all)
            for engine in engines {
                #expect(!engine.isAway && engine.error == "–", "\(engine)")
                #expect(Self.isDate(engine.since), "\(engine)")
            }
            #expect(try await page.text("main").contains("does not answer") == false)
            #expect(try await stage.picture(of: page, as: "healthy").count(of: Self.red) == 0)
            #expect(page.errors == [])
        }

        @Test(arguments: ConsoleOutageStage.Sabotage.allCases)
        func `an outage has its line in the console: since when and why, in red, until it ends`(
            _ sabotage: ConsoleOutageStage.Sabotage
        ) async throws {
            let stage = try await ConsoleOutageStage()
            await stage.ask()
            let page = try await stage.console()
            try await page.wait(untilAway: [])
            try await stage.set(sabotage, isAway: true)
            try await page.wait(untilAway: sabotage.rows)
            for engine in try await page.engines() where engine.isAway {
                #expect(Self.isDate(engine.since), "\(engine)")
                #expect(engine.error.contains(sabotage.error), "\(engine)")
                #expect(!engine.engine.isEmpty)
            }
            // Nothing of the row is beyond the table's edge.
            let sheet = "document.querySelector('section.engines .scroll')"
            #expect(try await page.value("\(sheet).scrollWidth <= \(sheet).clientWidth") == .flag(true))
            let notices = try await page.value("document.querySelector('.attention').innerText").text ?? ""
            #expect(notices.contains(sabotage.notice), "\(notices)")
            #expect(
                try await stage.picture(of: page, as: sabotage.rawValue).count(of: Self.red) > 20
                    * sabotage.rows.count)
            try await stage.set(sabotage, isAway: false)
            try await page.wait(untilAway: [])
            // Next to an answer the last error has its time.
            for engine in try await page.engines() where engine.error.contains(sabotage.error) {
                #expect(Self.isDate(String(engine.error.prefix(19))), "\(engine)")
            }
            #expect(try await stage.picture(of: page, as: "\(sabotage)-back").count(of: Self.red) == 0)
        }

        @Test func `a store answers if it did within ten seconds; after that the console says when it did`()
            async throws
        {
            let stage = try await ConsoleOutageStage()
            await stage.ask()
            let page = try await stage.console()
            func wait(_ state: String) async throws {
                try await page.wait(
                    until: """
                        [...document.querySelectorAll('section.engines tbody tr')].some(row => \
                        row.cells[0].innerText === 'The key store' && row.cells[2].innerText.match(/^\(state)$/))
                        """)
            }
            try await wait("answers")
            stage.clock.advance(by: EngineHealth.freshness)
            try await wait("answered at [0-9: -]+")
            await stage.server.shared.engines.keys.probe()
            try await wait("answers")
        }

        @Test func `with everything down and many refusals the console fits a narrow window`() async throws {
            let stage = try await ConsoleOutageStage()
            await stage.ask()
            for number in 0..<30 { try await stage.license(token: String(repeating: "x.", count: number)) }
            for sabotage in ConsoleOutageStage.Sabotage.allCases { try await stage.set(sabotage, isAway: true) }
            let page = try await stage.console(width: 400)
            try await page.wait(
                untilAway: ConsoleOutageStage.Sabotage.allCases.reduce(into: []) { $0.formUnion($1.rows) })
            try await page.wait(until: "document.querySelectorAll('table.brief tbody tr, .brief tbody tr').length > 5")
            #expect(try await page.value("document.documentElement.scrollWidth <= 400") == .flag(true))
            let height = try await page.value("document.documentElement.scrollHeight").number ?? .infinity
            #expect(height < 4_000)
            // The pages are in one row, through which one swipes.
            let row = try await page.value("document.querySelector('nav').offsetHeight").number ?? .infinity
            #expect(row < 50)
            let problems = try await page.accessibilityProblems() + page.contrastProblems()
            #expect(problems == [])
            _ = try await stage.picture(of: page, as: "narrow")
        }
    }
}
