import Foundation
import Testing

extension InChromium {
    /// The page as people see it.
    @Suite(.timeLimit(.minutes(10))) struct BrowserLayoutTests {
        @Test(arguments: [(400, true), (1_600, false)])
        func `the page fits the window, narrow and dark, wide and light`(width: Int, isDark: Bool) async throws {
            let stage = try await BrowserStage()
            let page = try await stage.page(width: width, isDark: isDark)
            for (viewer, state) in [(ChromiumPage.Viewer.allowed, "playing"), (.blocked, "refused")] {
                try await page.play("two-keys", as: viewer)
                try await page.waitForState(state)
                #expect(try await page.value("document.documentElement.scrollWidth <= \(width)") == .flag(true))
                let problems = try await page.accessibilityProblems() + page.contrastProblems()
                #expect(problems == [])
                let picture = try await Picture(png: #require(page.picture(of: "html")), in: stage.folder)
                #expect(picture.corner == (isDark ? [0x14, 0x18, 0x1d] : [0xff, 0xff, 0xff]))
            }
            // Picture and keys are side by side if there is room.
            let isBeside = try await page.value(
                "document.querySelector('.license').offsetLeft > document.querySelector('.picture').offsetLeft")
            #expect(isBeside == .flag(width == 1_600))
            #expect(try await page.text("viewers").contains("Play as an allowed viewer"))
            #expect(page.errors.allSatisfy { $0.contains("status of 403") })
        }

        @Test(arguments: [(400, false), (1_600, true)])
        func `the console fits the window and is readable by all`(width: Int, isDark: Bool) async throws {
            let stage = try await BrowserStage()
            let page = try await stage.console(width: width, isDark: isDark)
            #expect(try await page.value("document.documentElement.scrollWidth <= \(width)") == .flag(true))
            #expect(try await page.text("main").contains("Requests per second, by outcome"))
            let problems = try await page.accessibilityProblems() + page.contrastProblems()
            #expect(problems == [])
            let picture = try await Picture(png: #require(page.picture(of: "main")), in: stage.folder)
            #expect(picture.corner == (isDark ? [0x14, 0x17, 0x1b] : [0xf6, 0xf7, 0xf9]))
            #expect(page.errors == [])
        }
    }
}
