import Foundation
import Latchkey
import LatchkeyCore
import LatchkeySupport
import LatchkeyTerminal

/// A client's facts about a running test server, for people and for programs.
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
        /// The profile with which `play` demonstrates the service.
        let profile: String
        /// All profiles that the service supports.
        let profiles: [String]
        /// Where the service is mounted.
        let address: String
        /// The values for `--set`, without the token; a value that begins with `@` is an address that holds it.
        let settings: [String: String]
        /// An address that returns a new token each time; `nil` for vendors without tokens.
        let tokens: String?
        /// The keys that sign or seal the service's tokens, for an app's server that makes its own; test keys, binary ones in hex.
        let tokenKeys: [String: String]
        /// The stream to play; `nil` without media.
        let stream: String?
        /// A command line that plays it; `nil` without media.
        let play: String?
    }
}

extension ServeSheet {
    /// A table for a terminal, then one command line per vendor.
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
        let columns: [HTML.Column] = [
            .heading("Service"), .text("Profiles"), .text("Token"), .text("Play a stream"),
        ]
        let rows = services.map { service -> [HTML] in
            [
                .element("code", [:], service.service), .text(service.profiles.joined(separator: ", ")),
                service.tokens.map { .element("a", ["href": $0], "token") } ?? .none,
                .group([.element("pre", [:], service.play ?? ""), Self.keys(service.tokenKeys)]),
            ]
        }
        return HTML.page(
            title: "Latchkey test server", heading: "Latchkey test server",
            summary:
                "Every vendor's FairPlay license service, emulated for tests, and media that are encrypted with test keys.",
            [
                .table("Addresses", [.heading("What"), .text("Where")], self.rows),
                .section("Services", [.table("Services", columns, rows)]),
            ])
    }

    private static func keys(_ keys: [String: String]) -> HTML {
        guard !keys.isEmpty else { return .none }
        let rows = keys.sorted { $0.key < $1.key }.map { "\($0.key)  \($0.value)" }
        return .folded("Keys of its tokens", [.element("pre", [:], rows.joined(separator: "\n"))])
    }
}
