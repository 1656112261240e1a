import Foundation
import Latchkey
import LatchkeyCore
import LatchkeySupport
import LatchkeyTerminal

/// What a client has to be told about a running test server, for people and for programs.
struct ServeSheet: Encodable, Sendable {
    /// `http://127.0.0.1:8080`.
    let address: String
    let certificates: [Certificate]
    let streams: [MediaFolder.Stream]
    let services: [Service]

    /// An application certificate, and the credentials folder that a simulated device takes.
    struct Certificate: Encodable, Sendable {
        let url: String
        /// SHA-1 in hexadecimal, as SPCs name the certificate.
        let sha1: String
        let bits: Int
        let credentials: String
    }

    /// One vendor's service.
    struct Service: Encodable, Sendable {
        let service: String
        /// The profile that `play` shows the service with.
        let profile: String
        /// All profiles that the service answers.
        let profiles: [String]
        /// Where the service is mounted.
        let address: String
        /// What `--set` takes, the token left out; a value that begins with `@` is an address that holds it.
        let settings: [String: String]
        /// An address that gives a new token each time; `nil` for vendors without one.
        let tokens: String?
        /// What signs or seals the service's tokens, for an app's server that makes its own; test keys, binary ones in hexadecimal.
        let tokenKeys: [String: String]
        /// The stream to play; `nil` without media.
        let stream: String?
        /// A command line that plays it; `nil` without media.
        let play: String?
    }
}

extension ServeSheet {
    /// A table for a terminal, then a command line per vendor.
    var text: String {
        """
        Listening on \(address); the same page is there for a browser

        \(TextTable(rows: rows).text)

        \(lines)
        """
    }

    private var rows: [[String]] {
        let certificates = certificates.map { ["certificate", "\($0.url)  RSA \($0.bits)"] }
        let streams = streams.map { stream in
            let keys = stream.keys.map { $0.counted("key") } ?? "unreadable"
            return ["stream", "/media/SERVICE/\(stream.path)  \(keys)"]
        }
        let tokens = [["token", "\(address)/tokens/SERVICE  a new one each time"]]
        let names = Self.wrapped(services.map(\.service), width: 60)
        return certificates + streams + tokens
            + names.enumerated().map { [$0.offset == 0 ? "services" : "", $0.element] }
    }

    private var lines: String {
        let commands = services.compactMap(\.play)
        guard !commands.isEmpty else { return "There is no stream to play: the folder holds no playlist." }
        return "To play a stream, with the simulated device:\n\n" + commands.joined(separator: "\n")
    }

    private static func wrapped(_ words: [String], width: Int) -> [String] {
        words.reduce(into: [String]()) { lines, word in
            if let last = lines.last, last.count + word.count + 2 <= width {
                lines[lines.count - 1] = "\(last), \(word)"
            } else {
                if let last = lines.popLast() { lines.append("\(last),") }
                lines.append(word)
            }
        }
    }

    /// A page for a browser.
    var page: String {
        let rows = services.map { service in
            """
            <tr><td><code>\(Self.escaped(service.service))</code></td><td>\(Self.escaped(service.profiles.joined(separator: ", ")))</td>\
            <td>\(service.tokens.map { "<a href=\"\(Self.escaped($0))\">token</a>" } ?? "")</td>\
            <td><pre>\(Self.escaped(service.play ?? ""))</pre>\(Self.keys(service.tokenKeys))</td></tr>
            """
        }
        let facts = self.rows.map { "<tr><th>\(Self.escaped($0[0]))</th><td>\(Self.escaped($0[1]))</td></tr>" }
        return """
            <!DOCTYPE html>
            <html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
            <meta http-equiv="Content-Security-Policy" content="\(HTML.contentSecurityPolicy)">
            <title>Latchkey test server</title>
            <style>
            :root { color-scheme: light dark; font: 15px/1.5 system-ui, sans-serif } body { margin: 2rem auto; max-width: 75rem; padding: 0 1rem }
            th, td { text-align: left; vertical-align: top; padding: .25rem .75rem .25rem 0 } pre { white-space: pre-wrap; word-break: break-all; margin: 0 }
            </style></head><body>
            <h1>Latchkey test server</h1>
            <p>Every vendor's FairPlay license service, emulated for tests, and media that are encrypted with test keys.</p>
            <table>\(facts.joined(separator: "\n"))</table>
            <h2>Services</h2>
            <table><tr><th>Service</th><th>Profiles</th><th></th><th>Play a stream</th></tr>
            \(rows.joined(separator: "\n"))</table>
            </body></html>

            """
    }

    private static func keys(_ keys: [String: String]) -> String {
        guard !keys.isEmpty else { return "" }
        let rows = keys.sorted { $0.key < $1.key }.map { "\($0.key)  \($0.value)" }
        return
            "<details><summary>Keys of its tokens</summary><pre>\(escaped(rows.joined(separator: "\n")))</pre></details>"
    }

    private static func escaped(_ text: String) -> String {
        text.replacing("&", with: "&amp;").replacing("<", with: "&lt;").replacing("\"", with: "&quot;")
    }
}
