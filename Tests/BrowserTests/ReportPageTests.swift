#if os(Linux)
    import Foundation
    import LatchkeyTerminal
    import LatchkeyTesting
    import Testing

    @testable import LatchkeyCommandLine

    extension InChromium {
        /// The pages that programs write, as people see them and as screen readers read them.
        @Suite(.timeLimit(.minutes(10))) struct ReportPageTests {
            @Test(arguments: ReportPage.allCases, [(400, true), (1_600, false)])
            func `a page fits the window, is readable by all, and says what it should`(
                _ report: ReportPage, _ look: (width: Int, isDark: Bool)
            ) async throws {
                try await Self.with(report, look) { page, folder in
                    #expect(page.errors == [])
                    #expect(
                        try await page.value("document.documentElement.scrollWidth <= \(look.width)") == .flag(true))
                    let text = try await page.value("document.body.innerText.replaceAll(/\\s+/g, ' ')").text ?? ""
                    for words in report.words { #expect(text.contains(words), "\(words)") }
                    let problems = try await page.accessibilityProblems() + page.contrastProblems()
                    #expect(problems == [])
                    let header = try await Picture(png: #require(page.picture(of: "header")), in: folder)
                    #expect(header.corner == (look.isDark ? [0x0d, 0x11, 0x17] : [0xff, 0xff, 0xff]))
                }
            }

            @Test func `tables use the available width, and their rows stay low if it is small`()
                async throws
            {
                try await Self.with(.trace, (1_600, false)) { page, _ in
                    let width = try await page.value("document.body.offsetWidth").number ?? 0
                    #expect(width >= 1_500)
                }
                let rows = "[...document.querySelectorAll('.sheet tbody tr')].map(row => row.offsetHeight)"
                for report in [ReportPage.trace, .doctor] {
                    try await Self.with(report, (400, false)) { page, _ in
                        let highest = try await page.value("Math.max(...\(rows))").number ?? .infinity
                        #expect(highest < 130, "\(report)")
                    }
                }
            }

            @Test func `a phone shows doctor's findings without scrolling to the side`() async throws {
                try await Self.with(.doctor, (400, false)) { page, _ in
                    let edges = "[...document.querySelectorAll('ol.steps p')].map(p => p.getBoundingClientRect().right)"
                    let right = try await page.value("Math.max(...\(edges))").number ?? .infinity
                    #expect(right > 0 && right <= 400)
                }
            }

            /// A command's output, which is dropped.
            private struct Nowhere: Sink {
                var failure: String? { nil }
                func write(_ data: Data) {}
            }

            @Test func `a load's page fits a narrow window with a long address, and shows no time on virtual time`()
                async throws
            {
                let folder = try TemporaryFolder()
                let file = folder.file("load.html")
                let console = Console(output: Nowhere(), error: Nowhere(), showsProgress: false) { _ in Data() }
                let status = await CommandLineTool.standard.run(
                    ["load", "--virtual", "--viewers", "50", "--rate", "10", "--for", "5s", "--html", file.path],
                    console)
                try #require(status == .yes)
                let page = try await Chromium().open(file.absoluteString, width: 400)
                try await page.wait(until: "document.readyState === 'complete'")
                try await page.value(
                    "document.querySelector('h1').innerText = 'Load on https://' + 'license'.repeat(20) + '.example.com/t/demo'"
                )
                #expect(try await page.value("document.documentElement.scrollWidth <= 400") == .flag(true))
                let text = try await page.value("document.body.innerText").text ?? ""
                #expect(text.contains("Requests") && !text.contains("p99") && !text.contains("Latenc"))
                #expect(try await page.value("document.querySelectorAll('svg').length") == .number(1))
                await page.close()
            }

            @Test func `the demo's page shows five pictures in the right colors, and where the time went`()
                async throws
            {
                try await Self.with(.demo, (1_600, false)) { page, folder in
                    #expect(try await page.value("document.querySelectorAll('figure img').length") == .number(5))
                    #expect(
                        try await page.value("document.querySelectorAll('main > section > h2').length").number ?? 0 >= 7
                    )
                    let bars: [[UInt8]] = [
                        [255, 0, 0], [0, 255, 0], [255, 255, 0], [0, 0, 255], [255, 0, 255], [0, 255, 255],
                    ]
                    for number in 1...5 {
                        let png = try await page.picture(of: "figure:nth-child(\(number)) img")
                        let picture = try await Picture(png: #require(png), in: folder)
                        for (index, bar) in bars.enumerated() {
                            // Below the line that runs across, and next to the moving squares.
                            let color = picture.color((Double(index) + 0.5) / 6, 0.93)
                            #expect(zip(color, bar).allSatisfy { abs(Int($0) - Int($1)) < 40 }, "\(index): \(color)")
                            #expect(color.count == 3)
                        }
                    }
                }
            }

            @Test func `round trips are numbered and green, a wait is not`() async throws {
                try await Self.with(.trace, (1_600, false)) { page, folder in
                    let trip = try await Picture(
                        png: #require(page.picture(of: "section[id] .bar.request")), in: folder)
                    #expect(trip.color(0.5, 0.5) == [0x1a, 0x7f, 0x37])
                    let numbers = try await page.value(
                        "[...document.querySelectorAll('.trip')].map((one) => one.textContent).join()")
                    #expect(numbers == .text("round trip 1,round trip 2,round trip 1"))
                }
            }

            @Test(arguments: ReportPage.allCases) func `a dark page is printed black on white`(
                _ report: ReportPage
            ) async throws {
                try await Self.with(report, (1_000, true)) { page, folder in
                    let dark: JSON = .object(["name": .text("prefers-color-scheme"), "value": .text("dark")])
                    try await page.send(
                        "Emulation.setEmulatedMedia", ["media": .text("print"), "features": .array([dark])])
                    let header = try await Picture(png: #require(page.picture(of: "header")), in: folder)
                    #expect(header.corner == [0xff, 0xff, 0xff])
                    #expect(try await page.contrastProblems() == [])
                }
            }

            /// As wide as A4, and as A4 without the margins that Chromium leaves.
            @Test(arguments: ReportPage.allCases, [794, 718])
            func `a printed page shows all that the screen shows`(
                _ report: ReportPage, _ width: Int
            ) async throws {
                try await Self.with(report, (width, false)) { page, _ in
                    let text = "document.body.innerText.replaceAll(/\\s+/g, ' ')"
                    let unfolded = """
                        (() => {
                          const folded = [...document.querySelectorAll('details:not([open])')];
                          for (const one of folded) one.open = true;
                          const text = \(text);
                          for (const one of folded) one.open = false;
                          return text;
                        })()
                        """
                    let shown = try await page.value(unfolded)
                    try await page.send("Emulation.setEmulatedMedia", ["media": .text("print")])
                    #expect(try await page.value("matchMedia('print').matches") == .flag(true))
                    #expect(try await page.value("document.documentElement.scrollWidth <= innerWidth") == .flag(true))
                    #expect(try await page.value(text) == shown)
                    for words in report.words { #expect(shown.text?.contains(words) == true, "\(words)") }
                    #expect(try await page.value(Self.cut) == .array([]))
                    if let cause = report.cause {
                        let top = try await page.value("document.querySelector('h2').innerText")
                        #expect(top == .text(cause))
                        let place = try await page.value(
                            "Math.max(0, document.querySelector('h2').getBoundingClientRect().bottom + scrollY)")
                        #expect(1...500 ~= place.number ?? 0, "\(place)")
                    }
                    let pdf = try await page.send(
                        "Page.printToPDF", ["paperWidth": .number(8.27), "paperHeight": .number(11.69)])
                    let bytes = try #require(pdf["data"]?.text.flatMap { Data(base64Encoded: $0) })
                    #expect(bytes.starts(with: Data("%PDF-".utf8)) && bytes.count > 5_000)
                }
            }

            @Test func `a table that paper would cut is found`() async throws {
                try await Self.with(.trace, (794, false)) { page, _ in
                    try await page.send("Emulation.setEmulatedMedia", ["media": .text("print")])
                    #expect(try await page.value(Self.cut) == .array([]))
                    try await page.value(
                        "document.querySelector('.sheet').style.cssText = 'overflow: auto; width: 9rem'")
                    #expect(try await page.value(Self.cut).elements?.count ?? 0 > 0)
                }
            }

            /// Content that paper would hide: scrolling areas, closed parts, and tables beyond the page's edge.
            private static let cut = """
                [...document.querySelectorAll('body *')].filter((one) => {
                  if (one.closest('.unseen, svg')) return false;
                  const style = getComputedStyle(one);
                  const box = one.getBoundingClientRect();
                  if (one.matches('table, table *') && (box.height === 0 || box.right > innerWidth + 1)) return true;
                  if (one.matches('details > *') && !one.checkVisibility()) return true;
                  const isOpen = style.overflowX === 'visible' && style.overflowY === 'visible';
                  if (style.display === 'inline' || isOpen) return false;
                  return one.scrollWidth > one.clientWidth + 1 || one.scrollHeight > one.clientHeight + 1;
                }).map((one) => `${one.tagName} ${one.className} ${one.textContent.slice(0, 60)}`)
                """

            private static func with(
                _ report: ReportPage, _ look: (width: Int, isDark: Bool),
                _ body: (ChromiumPage, TemporaryFolder) async throws -> Void
            ) async throws {
                let folder = try TemporaryFolder()
                try await report.data().write(to: folder.file("page.html"))
                let page = try await Chromium().open(
                    folder.file("page.html").absoluteString, width: look.width, isDark: look.isDark)
                let result: Result<Void, any Error>
                do {
                    try await page.wait(until: "document.readyState === 'complete'")
                    result = .success(try await body(page, folder))
                } catch { result = .failure(error) }
                await page.close()
                try result.get()
            }
        }
    }
#endif
