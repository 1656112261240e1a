import Foundation
import LatchkeyCore
import Testing

@testable import LatchkeyDecision
@testable import LatchkeyLicensing
@testable import LatchkeyServer
@testable import LatchkeyServerTool

extension InChromium {
    /// Chromium plays the demo streams with keys from a license server.
    @Suite(.timeLimit(.minutes(10))) struct BrowserPlaybackTests {
        @Test(arguments: ["two-keys", "rotation"])
        func `Chromium shows the right picture at three times, of each key`(_ stream: String) async throws {
            let stage = try await BrowserStage()
            let page = try await stage.page()
            try await page.play(stream, as: .allowed)
            try await page.waitForState("playing")
            for frame in [10, 60, 135] {
                try await page.show(frame: frame)
                let shown = try await Picture(png: #require(page.picture(of: "#video")), in: stage.folder)
                let right = try await Picture.reference(frame: frame, in: stage.folder)
                let other = try await Picture.reference(frame: frame - 5, in: stage.folder)
                #expect(shown.difference(from: right) < 3)
                // The measure distinguishes pictures that are a fifth of a second apart.
                #expect(shown.difference(from: other) > 2 * shown.difference(from: right))
            }
            let keys = try await page.text("keys")
            #expect(keys.components(separatedBy: "usable").count == 3)
            #expect(page.errors == [])
        }

        @Test func `the page says when it asks again, and releases its session when it stops`() async throws {
            let stage = try await BrowserStage()
            let page = try await stage.page()
            try await page.play("two-keys", as: .allowed)
            try await page.waitForState("playing")
            // Four fifths of a lease of 5 min, minus the spread of renewals.
            let wait = try await page.value(
                "(new Date(document.getElementById('next-time').dateTime) - Date.now()) / 1000")
            #expect(try (200...241).contains(#require(wait.number)))
            // A stream for each of the three that the account may have, if the former ones did not end.
            for _ in 0..<5 {
                try await page.value("document.getElementById('stop').click()")
                try await page.waitForState("stopped")
                try await page.open(stage.demonstration.sheet.player, width: 1_024, isDark: false)
                try await page.waitForState("ready")
                try await page.play("rotation", as: .allowed)
                try await page.waitForState("playing")
            }
            #expect(page.errors == [])
        }

        @Test
        func
            `the page asks for its keys again with each lease, and stops with the server's words when they are refused`()
            async throws
        {
            let stage = try await BrowserStage()
            try await stage.change("policies/demo.json", #""lease": "5m""#, to: #""lease": "2s""#)
            let page = try await stage.page()
            try await page.play("two-keys", as: .allowed)
            try await page.waitForState("playing")
            let asked =
                "performance.getEntriesByType('resource').filter((entry) => entry.name.endsWith('/clearkey')).length"
            let first = try await page.text("next-time")
            try await page.wait(until: "\(asked) >= 3 && document.getElementById('next-time').innerText !== '\(first)'")
            #expect(page.errors == [])

            try await stage.change(
                "policies/demo.json", "\"viewer-blocked\"]", to: "\"viewer-blocked\", \"viewer-1\"]")
            try await page.waitForState("refused")
            #expect(try await page.text("refusal-reason") == "The user is blocked.")
            #expect(try await page.value("document.getElementById('video').readyState") == .number(0))
            #expect(try await page.text("keys").contains("usable") == false)
        }

        @Test func `a refused viewer reads why, what to do, and the request that an operator can look up`() async throws
        {
            let stage = try await BrowserStage()
            let page = try await stage.page()
            try await page.play("two-keys", as: .blocked)
            try await page.waitForState("refused")
            #expect(try await page.text("refusal-reason") == "The user is blocked.")
            #expect(try await page.text("refusal-remedy") == "Ask the service's operator.")
            #expect(try await page.text("refusal-code") == "blocked")
            let request = try await page.text("refusal-request")
            let record = stage.demonstration.server.shared.decisions.record(of: request, at: "demo")
            #expect(record?.facts.request.drm == .clearKey)
            #expect(try await page.value("document.getElementById('video').readyState") == .number(0))

            try await page.play("two-keys", as: .late)
            try await page.wait(until: "document.getElementById('refusal-code').innerText.startsWith('token')")
            // Chromium reports the two refusals, and nothing else.
            #expect(page.errors.count == 2 && page.errors.allSatisfy { $0.contains("status of 40") })

            // After a refusal, a viewer with the right plays.
            try await page.play("two-keys", as: .allowed)
            try await page.waitForState("playing")
            #expect(try await page.value("document.getElementById('refusal').hidden") == .flag(true))
        }

        @Test(arguments: [
            ("server.json", #""clearKey": true"#, #""clearKey": false"#, "right", "not enabled for this tenant"),
            (
                "policies/demo.json", #""version": 1,"#, #""version": 1, "output": {"hdcp": {"UHD1": "type0"}},"#,
                "output",
                "HDCP"
            ),
            (
                "policies/demo.json", #""version": 1,"#, #""version": 1, "download": {"allow": true},"#, "right",
                "stored"
            ),
        ])
        func `no keys leave if Clear Key is off, or a policy relies on the device`(
            file: String, old: String, new: String, code: String, word: String
        ) async throws {
            let stage = try await BrowserStage()
            try await stage.change(file, old, to: new)
            let page = try await stage.page()
            try await page.play("two-keys", as: .allowed)
            try await page.waitForState("refused")
            #expect(try await page.text("refusal-code") == code)
            #expect(try await page.text("refusal-reason").contains(word))
        }
    }
}
