import Foundation

/// A vendor's wire as text: the messages of each end, and how the other end reads them. `Tests/Golden/Wires/README.md` has the form.
public struct WireTranscript: Sendable {
    public let name: String
    public let cases: [WireCase]

    /// All transcripts of the repository.
    public static var all: [WireTranscript] { repository.transcripts }
    /// Why others cannot be understood.
    public static var flaws: [String] { repository.flaws }

    private static let repository: (transcripts: [WireTranscript], flaws: [String]) = {
        let folder = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../Golden/Wires")
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
        var (transcripts, flaws): ([WireTranscript], [String]) = ([], [])
        for name in names.sorted() where name.hasSuffix(".txt") {
            do {
                let text = try String(contentsOf: folder.appending(path: name), encoding: .utf8)
                transcripts.append(try WireTranscript(text, name: String(name.dropLast(4))))
            } catch { flaws.append("\(error)") }
        }
        return (transcripts, flaws)
    }()

    /// - Throws: `WireFlaw` where the text says something that no runner would look at.
    public init(_ text: String, name: String) throws(WireFlaw) {
        self.name = name
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false).enumerated()
            .map { WireLine(number: $0 + 1, text: String($1)) }
        let starts = lines.indices.filter { lines[$0].text.hasPrefix("## ") }
        guard let first = starts.first else { throw WireFlaw("\(name): no case") }
        var cases: [WireCase] = []
        for (start, end) in zip(starts, starts.dropFirst() + [lines.endIndex]) {
            let own = Array(lines[(start + 1)..<end])
            for row in try Self.rows(own, in: name) {
                let title = row.label.isEmpty ? "" : " (\(row.label))"
                cases.append(
                    try WireCase(
                        "\(name): \(lines[start].text.dropFirst(3))\(title)", row.applied(to: Array(lines[..<first])),
                        row.applied(to: own)))
            }
        }
        self.cases = cases
    }

    /// The rows of a case's table; one without cells where there is no table.
    private static func rows(_ lines: [WireLine], in name: String) throws(WireFlaw) -> [WireRow] {
        let table = lines.filter { $0.text.hasPrefix("|") }
        let cells = table.map { line in
            line.text.dropFirst().dropLast().components(separatedBy: "|").map {
                $0.trimmingCharacters(in: .whitespaces)
            }
        }
        guard let head = cells.first else { return [WireRow(names: [], cells: [])] }
        guard cells.count > 1 else { throw WireFlaw("\(name):\(table[0].number): a table without rows") }
        let text = lines.filter { !$0.text.hasPrefix("|") }.map(\.text).joined(separator: "\n")
        for column in head where !text.contains("{\(column)}") {
            throw WireFlaw("\(name):\(table[0].number): nothing reads the column \(column)")
        }
        var rows: [WireRow] = []
        for (line, row) in zip(table, cells).dropFirst() {
            guard row.count == head.count else { throw WireFlaw("\(name):\(line.number): \(row.count) cells") }
            rows.append(WireRow(names: head, cells: row))
        }
        return rows
    }
}

/// A place where a transcript cannot be understood.
public struct WireFlaw: Error, Hashable, CustomStringConvertible {
    public let description: String
    init(_ description: String) { self.description = description }
}

/// One exchange, or several that belong together.
public struct WireCase: Sendable, CustomStringConvertible {
    public let description: String
    /// Words and values, in their order.
    public let settings: [(word: String, value: String)]
    public var steps: [WireStep]

    static let settingWords: Set = [
        "profile", "key", "token", "set", "unset", "credential", "session", "lookup", "service", "with", "spc",
        "policy", "fault", "breaks",
    ]
    static let stepWords: Set = [">", "<", "id", "secret", "scope", "bundled", "app", "wait"]
    /// What ends the text of a request or of a reply.
    private static let flowWords: Set = [">", "<", "=", "!", "wait"]
    static let resultWords: Set = [
        "=", "!", "reason", "remedy", "terms", "value", "warning", "opens", "period", "renewals",
    ]

    init(_ title: String, _ shared: [WireLine], _ own: [WireLine]) throws(WireFlaw) {
        description = title
        var settings: [(String, String)] = []
        var steps: [WireStep] = []
        for line in shared + own where !line.text.hasPrefix("|") {
            let (word, value) = line.parts
            if steps.last?.takesText == true, !(Self.flowWords.contains(word) && !value.isEmpty) {
                steps[steps.count - 1].text.append(line.shown)
            } else if Self.stepWords.contains(word) {
                steps.append(WireStep(word: word, value: WireLine.shown(value), line: line.number))
            } else if Self.resultWords.contains(word), !steps.isEmpty {
                steps[steps.count - 1].result.append(line.shown)
            } else if Self.settingWords.contains(word) {
                settings.append((word, WireLine.shown(value)))
            } else if !line.text.isEmpty, !line.text.hasPrefix("#") {
                throw WireFlaw("\(title), line \(line.number): “\(word)” is unknown")
            }
        }
        for index in steps.indices { try steps[index].close(title) }
        guard !steps.isEmpty else { throw WireFlaw("\(title): nothing happens") }
        for (index, step) in steps.enumerated() where step.value == "request" {
            guard steps.dropFirst(index + 1).first?.value.hasPrefix("reply ") == true else {
                throw WireFlaw("\(title), line \(step.line): a request without a reply")
            }
        }
        (self.settings, self.steps) = (settings, steps)
    }

    /// The last value of a setting.
    public func value(_ word: String) -> String? { settings.last { $0.word == word }?.value }

    /// The values of a named setting, `set NAME=VALUE`.
    public func values(_ word: String) -> [String: String] {
        Dictionary(
            settings.filter { $0.word == word }.map { setting in
                let parts = setting.value.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
                return (String(parts[0]), String(parts.dropFirst().first ?? ""))
            }
        ) { $1 }
    }
}

/// A request, a reply or a statement, with its expected result.
public struct WireStep: Sendable {
    public let word: String
    public private(set) var value: String
    public let line: Int
    /// The request or the reply.
    public var text: [String] = []
    /// How an end reads it.
    public var result: [String] = []

    /// Whether a client does it; steps without a client's name are between a transcript and a service alone.
    public var isClients: Bool { word != "app" && word != "wait" && value != "request" && !value.hasPrefix("reply") }

    /// Whether the lines that follow are those of a request or of a reply.
    var takesText: Bool { (word == ">" || word == "<") && result.isEmpty }

    /// The text with `{word TEXT}`, which ends where the line does, replaced by the result of the function of that name.
    public static func filled(_ text: String, _ words: [String: (String) -> String]) -> String {
        text.split(separator: "\n", omittingEmptySubsequences: false).map { line in
            for (word, make) in words {
                guard line.hasSuffix("}"), let start = line.range(of: "{\(word) ") else { continue }
                return line[..<start.lowerBound] + make(String(line[start.upperBound...].dropLast()))
            }
            return String(line)
        }.joined(separator: "\n")
    }

    /// Changes the client's expected step, to test the players of transcripts.
    public mutating func damage() {
        if !result.isEmpty {
            result[0] += "x"
        } else if word == ">" {
            text[0] += "x"
        } else if word == "secret" {
            // A name that looks like a credential's is secret everywhere.
            value = value.prefix { $0 != " " } + " harmless"
        } else {
            value += "x"
        }
    }

    /// A part of a service's reply that a transcript states.
    public enum ReplyPart: CaseIterable, Sendable {
        case status, field, body, result
    }

    /// Changes a part of the service's expected reply; `false` if the step does not state it.
    public mutating func damageReply(_ part: ReplyPart) -> Bool {
        guard word == "<" || word == "app" else { return false }
        let end = text.firstIndex(of: "") ?? text.endIndex
        switch part {
        case .status where word == "<": value += "x"
        case .field where end > 0: text[0] += "x"
        case .body where end + 1 < text.endIndex: text[text.endIndex - 1] += "x"
        case .result:
            guard
                let stated = result.firstIndex(where: {
                    word == "app" || $0.hasPrefix("= terms ") || $0.hasPrefix("= warning ")
                })
            else { return false }
            result[stated] += "x"
        default: return false
        }
        return true
    }

    /// Ends the text, and refuses a step that could not fail.
    mutating func close(_ title: String) throws(WireFlaw) {
        while text.last?.isEmpty == true { text.removeLast() }
        let isComplete =
            switch word {
            case ">": text.isEmpty != result.isEmpty
            case "<" where value.hasPrefix("reply "): true
            case "<", "bundled", "app": !result.isEmpty
            default: !value.isEmpty || !result.isEmpty
            }
        guard isComplete else { throw WireFlaw("\(title), line \(line): “\(word) \(value)” expects nothing") }
    }
}

struct WireLine {
    let number: Int
    var text: String

    /// The first word, and what follows it.
    var parts: (word: String, value: String) {
        let parts = text.split(separator: " ", maxSplits: 1, omittingEmptySubsequences: false)
        return (String(parts.first ?? ""), String(parts.dropFirst().first ?? ""))
    }

    var shown: String { Self.shown(text) }

    /// With the characters that a line of a file cannot show.
    static func shown(_ text: String) -> String {
        [("␊", "\n"), ("␍", "\r"), ("␠", " "), ("␀", "\0"), ("¦", "|")].reduce(text) {
            $0.replacingOccurrences(of: $1.0, with: $1.1)
        }
    }
}

private struct WireRow {
    let names: [String]
    let cells: [String]

    var label: String { cells.joined(separator: ", ") }

    func applied(to lines: [WireLine]) -> [WireLine] {
        lines.map { line in
            let text = zip(names, cells).reduce(line.text) {
                $0.replacingOccurrences(of: "{\($1.0)}", with: $1.1)
            }
            return WireLine(number: line.number, text: text)
        }
    }
}
