import Foundation
import Testing

@testable import LatchkeyServer
@testable import LatchkeyServerTool
@testable import LatchkeyVault
@testable import TestServers

extension ConsoleInChromium {
    /// The page of reports, as an operator uses it.
    @Suite(.timeLimit(.minutes(10))) struct ConsoleReportsTests {
        private static let main = "document.querySelector('main').innerText.replaceAll(/\\s+/g, ' ')"
        private static let bars = "document.querySelectorAll('main svg.chart rect').length"

        @Test(arguments: [(400, true), (400, false), (1_600, true), (1_600, false)])
        func `figures, concurrent viewers and notes fit the window and are navigable`(
            _ width: Int, _ isDark: Bool
        ) async throws {
            let stage = try await ConsoleReportsStage()
            stage.fill()
            let page = try await stage.reports(width: width, isDark: isDark)
            try await page.wait(until: "\(Self.bars) > 50 && \(Self.main).includes(' by day')")
            let text = try await page.value(Self.main).text ?? ""
            for words in ["as of", "The record goes back to", "At most 109.", "viewers were not counted", " by day"] {
                #expect(text.contains(words), "\(words): \(text.prefix(1_500))")
            }
            #expect(try await page.value("document.documentElement.scrollWidth <= \(width)") == .flag(true))
            let problems = try await page.accessibilityProblems() + page.contrastProblems()
            #expect(problems == [])
            #expect(page.errors == [])
            try await stage.keep(page, "reports-\(width)-\(isDark ? "dark" : "light")")
        }

        @Test func `an account's history opens from a report, is paged, and leads to why`() async throws {
            let stage = try await ConsoleReportsStage()
            stage.fill()
            let page = try await stage.reports(width: 400)
            try await page.wait(until: "document.querySelector('main select[name=by]') && \(Self.bars) > 50")
            try await page.value(
                """
                document.querySelector('main select[name=by]').value = 'account';
                document.querySelector('main form').requestSubmit();
                """)
            let button =
                "[...document.querySelectorAll('main td button')].find(one => one.innerText === 'viewer-7')"
            try await page.wait(until: button)
            try await page.value("\(button).click()")
            try await page.wait(until: "\(Self.main).includes('History of viewer-7')")
            let request = "[...document.querySelectorAll('main a.id')].find(one => one.innerText === 'request-7')"
            try await page.wait(until: request)
            #expect(try await page.value("document.documentElement.scrollWidth <= 400") == .flag(true))
            try await stage.keep(page, "history")
            try await page.value("\(request).click()")
            try await page.wait(until: "\(Self.main).includes('From the record, as of')")
            #expect(try await page.value(Self.main).text?.contains("viewer-7") == true)
            #expect(page.errors == [])
        }

        @Test func `the page works by keyboard alone, and a day is chosen`() async throws {
            let stage = try await ConsoleReportsStage()
            stage.fill()
            let page = try await stage.reports()
            try await page.wait(until: "\(Self.bars) > 50")
            // From the range by the keyboard to the button, over every field once.
            try await page.value("document.querySelector('main select[name=last]').focus()")
            var names: [String] = []
            for _ in 0..<8 {
                names.append(
                    try await page.value("document.activeElement.name || document.activeElement.innerText").text
                        ?? "")
                try await page.press("Tab")
            }
            #expect(names.prefix(7) == ["last", "by", "event", "account", "content", "code", "Show"], "\(names)")
            try await page.value(
                """
                (() => {
                  const range = document.querySelector('main select[name=last]');
                  range.value = ''; range.dispatchEvent(new Event('change', { bubbles: true }));
                  const day = new Date(Date.now() - 86400000).toISOString().slice(0, 10);
                  for (const name of ['from', 'to']) document.querySelector(`main input[name=${name}]`).value = day;
                  document.querySelector('main form').requestSubmit();
                })()
                """)
            try await page.wait(until: "\(Self.main).includes('1 of 1 by day')")
            #expect(page.errors == [])
        }

        @Test func `a chart is read by the arrow keys, and shows latency where the record has it`() async throws {
            let stage = try await ConsoleReportsStage()
            stage.fill()
            let page = try await stage.reports()
            try await page.wait(until: "\(Self.bars) > 50 && \(Self.main).includes(' by day')")
            #expect(try await page.value("document.querySelectorAll('main svg.chart path').length").number == 0)
            // As a record with roll-ups answers: with percentiles, and without accounts by the hour.
            try await page.value(
                """
                window.asked = window.fetch;
                window.fetch = async (...all) => {
                  const reply = await window.asked(...all);
                  if (!String(all[0]).includes('/report?')) return reply;
                  const body = await reply.json();
                  for (const one of body.groups) Object.assign(one, { p50Microseconds: 800, p95Microseconds: 3250 });
                  delete body.total.accounts;
                  return new Response(JSON.stringify(body));
                };
                document.querySelector('main form').requestSubmit();
                """)
            try await page.wait(until: "document.querySelector('main svg.chart path.p95')")
            #expect(try await page.value(Self.main).text?.contains("Accounts –") == true)
            var read: [String] = []
            for chart in 0..<2 {
                let box = "document.querySelectorAll('main .readable')[\(chart)]"
                try await page.value("\(box).focus()")
                for key in ["End", "ArrowLeft"] {
                    try await page.press(key)
                    read.append(try await page.value("\(box).nextElementSibling.innerText").text ?? "")
                    #expect(try await page.value("\(box).getAttribute('aria-valuetext')").text == read.last)
                }
            }
            #expect(Set(read).count == 4 && read[1].hasSuffix("refusals") && read[3].contains("3.3 ms p95"), "\(read)")
            try await stage.keep(page, "reports-latency")
        }

        @Test func `new figures leave the focus unchanged`() async throws {
            let stage = try await ConsoleReportsStage()
            stage.fill()
            stage.record.set(.hangs)
            let page = try await stage.reports()
            try await page.wait(until: "\(Self.main).includes('Querying the record.')")
            #expect(try await page.value("document.activeElement.tagName").text == "MAIN")
            try await page.value("document.querySelector('main select[name=last]').focus()")
            stage.record.set(.answers)
            try await page.wait(until: "\(Self.bars) > 50 && \(Self.main).includes(' by day')")
            #expect(try await page.value("document.activeElement.name").text == "last")
        }

        @Test func `an unavailable record clears the page's figures, and is reported until it answers`()
            async throws
        {
            let stage = try await ConsoleReportsStage()
            stage.fill()
            let page = try await stage.reports(width: 400)
            try await page.wait(until: "\(Self.bars) > 50")
            stage.record.set(.isAway)
            try await page.value("document.querySelector('main form').requestSubmit()")
            try await page.wait(until: "\(Self.main).split('No figures. The record did not respond').length === 3")
            #expect(try await page.value("\(Self.bars)").number == 0)
            #expect(try await page.value("document.querySelectorAll('main .tile').length").number == 0)
            #expect(try await page.contrastProblems() == [])
            try await stage.keep(page, "reports-away")
            stage.record.set(.hangs)
            try await page.value("document.querySelector('main form').requestSubmit()")
            try await page.wait(until: "\(Self.main).includes('Querying the record.')")
            stage.record.set(.answers)
            try await page.wait(until: "\(Self.bars) > 50")
            #expect(page.errors.allSatisfy { $0.contains("503") })
        }

        @Test func `a report is saved as CSV, with its total`() async throws {
            let stage = try await ConsoleReportsStage()
            stage.fill()
            let page = try await stage.reports()
            try await page.wait(until: "\(Self.bars) > 50 && \(Self.main).includes(' by day')")
            // The content that the link would save.
            try await page.value(
                """
                window.saved = []; window.make = URL.createObjectURL;
                URL.createObjectURL = blob => { window.saved.push(blob); return window.make(blob); };
                """)
            let save =
                "[...document.querySelectorAll('main button')].find(one => one.innerText === 'Download as CSV')"
            try await page.value("\(save).click()")
            try await page.wait(until: "document.querySelector('#status').innerText === 'The file is complete.'")
            let text = try await page.value("window.saved[0].text()").text ?? ""
            #expect(text.hasPrefix("row,day,licenses,") && text.contains("\r\ntotal,,"), "\(text.prefix(200))")
            #expect(page.errors == [])
        }
    }
}
