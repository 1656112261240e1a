import Foundation
import LatchkeyCore

/// A page in Chromium.
final class ChromiumPage: Sendable {
    private let browser: Chromium
    private let session: String
    /// The browser context, which separates its cookies and storage from other pages'.
    private let context: JSON
    private let said = Locked<[String]>([])

    init(_ browser: Chromium, session: String, context: JSON) {
        self.browser = browser
        self.context = context
        self.session = session
    }

    /// Errors in the console so far: of scripts, of the network, of the page's own security policy.
    var errors: [String] { said.withLock { $0 } }

    /// Opens an address; the page exists then, but need not be loaded.
    func open(_ address: String, width: Int, isDark: Bool) async throws {
        browser.listen(to: session) { [said] method, values in
            if let error = Self.error(method, values) { said.withLock { $0.append(error) } }
        }
        for domain in ["Page", "Runtime", "Log"] { try await send("\(domain).enable") }
        try await send(
            "Emulation.setDeviceMetricsOverride",
            [
                "width": .number(Double(width)), "height": .number(900), "deviceScaleFactor": .number(1),
                "mobile": .flag(false),
            ])
        let scheme: JSON = .object(["name": .text("prefers-color-scheme"), "value": .text(isDark ? "dark" : "light")])
        try await send("Emulation.setEmulatedMedia", ["features": .array([scheme])])
        try await send("Page.navigate", ["url": .text(address)])
    }

    /// The value of an expression; if it is a promise, its result.
    @discardableResult
    func value(_ expression: String) async throws -> JSON {
        let answer = try await send(
            "Runtime.evaluate",
            [
                "expression": .text(expression), "awaitPromise": .flag(true), "returnByValue": .flag(true),
                "userGesture": .flag(true),
            ])
        if let details = answer["exceptionDetails"]?.members {
            let what = details["exception"]?.members?["description"]?.text
            throw Chromium.Failure(description: what ?? details["text"]?.text ?? "The expression failed.")
        }
        return answer["result"]?.members?["value"] ?? .null
    }

    /// Waits until a condition holds, which is checked whenever the page changes.
    func wait(until condition: String) async throws {
        try await value(
            """
            new Promise((resolve) => {
              const look = () => { if (\(condition)) { watch.disconnect(); resolve(true); } };
              const watch = new MutationObserver(look);
              watch.observe(document, { subtree: true, childList: true, attributes: true, characterData: true });
              document.addEventListener('readystatechange', look);
              look();
            })
            """)
    }

    /// The text of an element.
    func text(_ id: String) async throws -> String {
        try await value("document.getElementById('\(id)').innerText").text ?? ""
    }

    /// Presses and releases a key.
    func press(_ key: String) async throws {
        let codes = ["Tab": 9.0, "Enter": 13, "End": 35, "ArrowLeft": 37]
        for type in ["keyDown", "keyUp"] {
            var values: Chromium.Values = [
                "type": .text(type), "key": .text(key), "code": .text(key),
                "windowsVirtualKeyCode": .number(codes[key] ?? 0),
            ]
            values["text"] = key == "Enter" && type == "keyDown" ? .text("\r") : nil
            try await send("Input.dispatchKeyEvent", values)
        }
    }

    /// An element's picture, as a PNG; `nil` without one.
    func picture(of selector: String) async throws -> Data? {
        let place = try await value(
            """
            (() => {
              const box = document.querySelector('\(selector)').getBoundingClientRect();
              return { x: box.x + scrollX, y: box.y + scrollY, width: box.width, height: box.height, scale: 1 };
            })()
            """)
        let answer = try await send(
            "Page.captureScreenshot", ["format": .text("png"), "clip": place, "captureBeyondViewport": .flag(true)])
        return answer["data"]?.text.flatMap { Data(base64Encoded: $0) }
    }

    /// Closes the page.
    func close() async { _ = try? await browser.send("Target.disposeBrowserContext", ["browserContextId": context]) }

    /// Sends a command of the DevTools protocol.
    @discardableResult
    func send(_ method: String, _ parameters: Chromium.Values = [:]) async throws -> Chromium.Values {
        try await browser.send(method, parameters, session: session)
    }

    private static func error(_ method: String, _ values: Chromium.Values) -> String? {
        switch method {
        case "Runtime.exceptionThrown":
            let details = values["exceptionDetails"]?.members
            return details?["exception"]?.members?["description"]?.text ?? details?["text"]?.text ?? method
        case "Runtime.consoleAPICalled" where values["type"]?.text == "error": return "console.error"
        case "Log.entryAdded":
            guard let entry = values["entry"]?.members, entry["level"]?.text == "error" else { return nil }
            return "\(entry["text"]?.text ?? "") \(entry["url"]?.text ?? "")"
        default: return nil
        }
    }
}
