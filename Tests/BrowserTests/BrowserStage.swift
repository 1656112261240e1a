import Foundation
import LatchkeyCore
import LatchkeyTesting

@testable import LatchkeyLicensing
@testable import LatchkeyServer
@testable import LatchkeyServerTool

/// A running demonstration in its own folder, and Chromium.
final class BrowserStage: Sendable {
    let folder: TemporaryFolder
    let demonstration: Demonstration
    private let pages: BrowserPages

    init() async throws {
        folder = try TemporaryFolder()
        let demo = try DemoFolder(folder.file("demo"), ports: [0, 0, 0])
        // A busy machine is not an outage.
        let text = try String(contentsOfFile: demo.configuration, encoding: .utf8)
        try Data(text.replacing(#""stores": {"#, with: #""stores": {"sessionMilliseconds": 10000, "#).utf8).write(
            to: URL(filePath: demo.configuration))
        demonstration = try await Demonstration.start(in: demo, lines: LineWriter { _ in })
        pages = try BrowserPages()
    }

    // The task ends with the stop, which waits for no request.
    deinit {
        Task { [demonstration, folder] in
            await demonstration.server.stop(within: .zero)
            withExtendedLifetime(folder) {}
        }
    }

    /// The page, ready for a click.
    func page(width: Int = 1_024, isDark: Bool = false) async throws -> ChromiumPage {
        let page = try await pages.open(demonstration.sheet.player, width: width, isDark: isDark)
        try await page.wait(until: "document.body?.dataset.state === 'ready'")
        return page
    }

    /// The console's first page, with an operator signed in.
    func console(width: Int = 1_024, isDark: Bool = false) async throws -> ChromiumPage {
        let page = try await pages.open(demonstration.sheet.console, width: width, isDark: isDark)
        let key = String(decoding: folder.contents("demo/admin-key.txt") ?? Data(), as: UTF8.self)
        try await page.signIn(key.trimmingCharacters(in: .whitespacesAndNewlines))
        try await page.wait(until: "document.querySelector('svg.chart') && document.querySelector('.legend')")
        return page
    }

    /// The console's first page, without a sign-in, and a link to the provider.
    func signInPage(width: Int, isDark: Bool) async throws -> ChromiumPage {
        let page = try await pages.open(demonstration.sheet.console, width: width, isDark: isDark)
        try await page.wait(until: "document.querySelector('#provider')")
        // The provider's certificate is self-made for the test.
        try await page.send("Security.setIgnoreCertificateErrors", ["ignore": .flag(true)])
        return page
    }

    /// Changes a file of the demonstration, and makes the server read it.
    func change(_ file: String, _ old: String, to new: String) async throws {
        let url = folder.file("demo/\(file)")
        let text = try String(contentsOf: url, encoding: .utf8)
        guard text.contains(old) else { throw Chromium.Failure(description: "\(file) has no \(old)") }
        try Data(text.replacing(old, with: new).utf8).write(to: url)
        try await demonstration.server.reload()
    }
}

/// Pages of a separate browser, which close when they are no longer referenced.
final class BrowserPages: Sendable {
    private let browser: Chromium
    private let pages = Locked<[ChromiumPage]>([])

    init() throws { browser = try Chromium() }

    // The task ends with the last page, which closes or is released.
    deinit { Task { [pages] in for page in pages.withLock({ $0 }) { await page.close() } } }

    func open(_ address: String, width: Int, isDark: Bool = false) async throws -> ChromiumPage {
        let page = try await browser.open(address, width: width, isDark: isDark)
        pages.withLock { $0.append(page) }
        return page
    }
}

extension ChromiumPage {
    /// Signs in to the console, and waits for its first page.
    func signIn(_ key: String) async throws {
        try await wait(until: "document.querySelector('#key')")
        try await value(
            "document.querySelector('#key').value = '\(key)'; document.querySelector('form').requestSubmit()")
        try await wait(until: "document.querySelector('h1')?.innerText === 'Overview'")
    }

    /// Waits until a condition holds, on this page or on one to which it leads. A question to a page that closes may never be answered,
    /// so it is asked again.
    func waitThrough(until condition: String) async throws {
        let lost = Chromium.Failure(description: "The page is gone.")
        func holds() async throws -> Bool {
            try await withDeadline(.seconds(2), SystemTimekeeper(), expired: { lost }) {
                try await self.value("Boolean(\(condition))") == .flag(true)
            }
        }
        while (try? await holds()) != true {
            try Task.checkCancellation()
            await Task.yield()
        }
    }

    /// Chooses a stream and plays it as one of the viewers, by the buttons' order.
    func play(_ stream: String, as viewer: Viewer) async throws {
        try await value(
            """
            (() => {
              const stream = document.getElementById('stream');
              stream.selectedIndex = Array.from(stream.options).findIndex((option) => option.value.includes('\(stream)'));
              document.querySelectorAll('#viewers button')[\(viewer.rawValue)].click();
            })()
            """)
    }

    /// The buttons.
    enum Viewer: Int {
        case allowed, blocked, late
    }

    /// Waits until the page is in a state, or in one in which it stays.
    func waitForState(_ state: String) async throws {
        try await wait(until: "['\(state)', 'refused', 'failed'].includes(document.body?.dataset.state)")
        guard try await value("document.body.dataset.state").text == state else {
            let refusal = "\(try await text("refusal-code")) \(try await text("refusal-reason"))"
            throw Chromium.Failure(description: "\(try await text("status")) \(refusal)")
        }
    }

    /// Shows one frame and nothing over it, in the size in which it was made.
    func show(frame: Int) async throws {
        try await value(
            """
            new Promise((resolve, reject) => {
              const video = document.getElementById('video');
              video.onerror = () => reject(new Error(video.error.message));
              video.controls = false;
              video.style.width = '320px';
              video.style.borderRadius = 0;
              video.pause();
              // A frame that was on its way when the player paused may be shown first.
              const look = (now, shown) => {
                if (Math.floor(shown.mediaTime * 25 + 0.5) !== \(frame)) { video.requestVideoFrameCallback(look); return; }
                requestAnimationFrame(() => requestAnimationFrame(resolve));
              };
              const seek = () => {
                video.requestVideoFrameCallback(look);
                video.currentTime = (\(frame) + 0.5) / 25;
              };
              if (video.readyState >= 1) seek(); else video.onloadedmetadata = seek;
            })
            """)
    }
}
