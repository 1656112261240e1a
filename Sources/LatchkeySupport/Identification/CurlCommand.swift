import Foundation
import Latchkey
import LatchkeyCore

/// A `curl` command as browsers copy it, read without running anything.
enum CurlCommand {
    /// Whether a text begins like a `curl` command.
    static func isOne(_ text: String) -> Bool {
        let text = text.hasPrefix("$ ") ? text.dropFirst(2) : text[...]
        return text.hasPrefix("curl ") || text.hasPrefix("curl.exe ") || text.hasPrefix("curl\\\n")
    }

    /// The request that it would send. A body in a file, `@FILE`, is left out.
    /// - Throws: `captureMalformed` for an unpaired quotation mark, or a command without a URL.
    static func request(_ text: String) throws(Diagnosis) -> RecordedRequest {
        var words = try ShellWords(text).words[...]
        words = words.drop { $0 == "$" }.dropFirst()
        var command = Parts()
        while let word = words.popFirst() { command.take(word, &words) }
        guard let url = command.url else {
            throw malformed("The curl command has no URL.")
        }
        return RecordedRequest(
            method: command.method ?? (command.hasBody ? "POST" : "GET"), url: url, headers: command.fields,
            body: command.body.isEmpty ? nil : Data(command.body.joined(separator: "&").utf8),
            gap: command.hasBody && command.body.isEmpty ? .notSaved : nil)
    }

    static func malformed(_ reason: String) -> Diagnosis {
        Diagnosis(
            code: "captureMalformed", reason: reason, remedy: "Copy the whole command, with both quotation marks.")
    }
}

extension CurlCommand {
    private struct Parts {
        var method: String?
        var url: String?
        var headers: [(name: String, value: String)] = []
        var body: [String] = []
        var hasBody = false
        var type: String?

        /// The header fields, and the content type that curl adds.
        var fields: [(name: String, value: String)] {
            let isStated = headers.contains { $0.name.lowercased() == "content-type" }
            guard let type, !isStated else { return headers }
            return headers + [("Content-Type", type)]
        }

        mutating func take(_ word: String, _ rest: inout ArraySlice<String>) {
            guard word.hasPrefix("-"), word.utf8.count > 1 else {
                url = url ?? word
                return
            }
            let (name, attached) = Self.split(word)
            guard Self.withValue.contains(name) else { return }
            let value = attached ?? rest.popFirst() ?? ""
            switch name {
            case "-X", "--request": method = value.uppercased()
            case "--url": url = url ?? value
            case "-H", "--header": addHeader(value)
            case "-d", "--data", "--data-raw", "--data-binary", "--data-ascii", "--data-urlencode":
                addBody(value, "application/x-www-form-urlencoded")
            case "--json": addBody(value, "application/json")
            case "-F", "--form": (hasBody, type) = (true, type ?? "multipart/form-data")
            default: break
            }
        }

        private mutating func addHeader(_ text: String) {
            guard let colon = text.firstIndex(of: ":") else { return }
            headers.append((String(text[..<colon]), text[colon...].dropFirst().trimmingCharacters(in: .whitespaces)))
        }

        private mutating func addBody(_ text: String, _ type: String) {
            hasBody = true
            self.type = self.type ?? type
            if !text.hasPrefix("@") { body.append(text) }
        }

        /// `-XPOST` and `--header=…` hold their value.
        private static func split(_ word: String) -> (name: String, value: String?) {
            if word.hasPrefix("--") {
                let halves = word.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
                return (halves[0], halves.count > 1 ? halves[1] : nil)
            }
            let rest = word.dropFirst(2)
            return (String(word.prefix(2)), rest.isEmpty ? nil : String(rest))
        }

        /// The options that take a value; all others take none.
        private static let withValue: Set = [
            "-X", "--request", "--url", "-H", "--header", "-d", "--data", "--data-raw", "--data-binary",
            "--data-ascii", "--data-urlencode", "--json", "-F", "--form", "-u", "--user", "-b", "--cookie", "-A",
            "--user-agent", "-e", "--referer", "-o", "--output", "-m", "--max-time", "--connect-timeout", "-x",
            "--proxy", "--resolve", "-E", "--cert", "--cacert", "-w", "--write-out", "--retry",
        ]
    }
}

/// A command split into words as a shell does: quotation marks, backslashes, `$'…'`.
struct ShellWords {
    private(set) var words: [String] = []
    private var word: String?
    private var rest: Substring.UnicodeScalarView

    init(_ text: String) throws(Diagnosis) {
        rest = text[...].unicodeScalars
        while let scalar = rest.popFirst() { try take(scalar) }
        close()
    }

    private mutating func take(_ scalar: Unicode.Scalar) throws(Diagnosis) {
        switch scalar {
        case " ", "\t", "\n", "\r": close()
        case "'": try quoted("'", escapes: false)
        case "\"": try quoted("\"", escapes: true)
        case "$" where rest.first == "'":
            rest.removeFirst()
            try quoted("'", escapes: true)
        case "\\":
            // The line continues after its end.
            if let next = rest.popFirst(), next != "\n", next != "\r" { append(next) }
        default: append(scalar)
        }
    }

    private mutating func quoted(_ mark: Unicode.Scalar, escapes: Bool) throws(Diagnosis) {
        word = word ?? ""
        while let scalar = rest.popFirst() {
            if scalar == mark { return }
            guard escapes, scalar == "\\", let next = rest.popFirst() else {
                append(scalar)
                continue
            }
            append(next == "n" ? "\n" : next == "t" ? "\t" : next)
        }
        throw CurlCommand.malformed("A quotation mark of the curl command has no other.")
    }

    private mutating func append(_ scalar: Unicode.Scalar) {
        var text = word ?? ""
        text.unicodeScalars.append(scalar)
        word = text
    }

    private mutating func close() {
        if let word { words.append(word) }
        word = nil
    }
}
