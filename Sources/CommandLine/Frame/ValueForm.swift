import Foundation
import LatchkeyCore

/// How an option's value is written, and how its text becomes a value.
struct ValueForm<Value: Sendable>: Sendable {
    /// What the help writes for it.
    let placeholder: String
    /// How many words of the command line it takes; they come joined by NUL, which no argument contains.
    var wordCount = 1
    /// Reads the text.
    let parse: @Sendable (String) throws(BadValue) -> Value
}

/// Why a value is refused, as the end of a sentence that begins with the option.
struct BadValue: Error, Equatable {
    let explanation: String
    init(_ explanation: String) { self.explanation = explanation }
}

extension ValueForm<String> {
    /// Any text.
    static func text(_ placeholder: String) -> Self {
        ValueForm(placeholder: placeholder) { text throws(BadValue) in text }
    }

    /// A path; not empty.
    static func path(_ placeholder: String) -> Self {
        ValueForm(placeholder: placeholder) { text throws(BadValue) in
            guard !text.isEmpty else { throw BadValue("needs a path, not an empty text") }
            return text
        }
    }
}

extension ValueForm<UInt16> {
    /// A TCP port.
    static let port = ValueForm(placeholder: "N") { text throws(BadValue) in
        guard let port = UInt16(text) else { throw BadValue("needs a port from 0 to 65535, not \(quoted(text))") }
        return port
    }
}

extension ValueForm<WordPair> {
    /// Two words.
    static func pair(_ first: String, _ second: String) -> Self {
        ValueForm(placeholder: "\(first) \(second)", wordCount: 2) { text throws(BadValue) in
            let words = text.split(separator: "\0", omittingEmptySubsequences: false).map(String.init)
            guard words.count == 2 else { throw BadValue("needs two values: \(first) and \(second)") }
            return WordPair(first: words[0], second: words[1])
        }
    }
}

/// The two words of an option that takes two.
struct WordPair: Sendable, Equatable {
    let first, second: String
}

extension ValueForm<Secret> {
    /// Hexadecimal digits for a number of bytes. The message about a wrong value never repeats it.
    static func hex(bytes count: Int) -> Self {
        ValueForm(placeholder: "HEX") { text throws(BadValue) in
            guard let bytes = Data(hexString: text), bytes.count == count else {
                throw BadValue("needs \(2 * count) hexadecimal digits, and this is \(text.utf8.count) bytes of text")
            }
            return Secret(bytes)
        }
    }
}

extension ValueForm<Duration> {
    /// Whole seconds within bounds; a duration on the wire has 32 bits.
    static func seconds(from least: UInt32 = 1) -> Self {
        ValueForm(placeholder: "SECONDS") { text throws(BadValue) in
            guard let number = UInt32(text), number >= least else {
                throw BadValue("needs a whole number of seconds from \(least) to \(UInt32.max), not \(quoted(text))")
            }
            return .seconds(Int64(number))
        }
    }
}

extension ValueForm {
    /// One of some words, each with its value.
    static func choice(_ choices: KeyValuePairs<String, Value>) -> Self where Value: Sendable {
        let choices = choices.map { (word: $0.key, value: $0.value) }
        return ValueForm(placeholder: choices.map(\.word).joined(separator: "|")) { text throws(BadValue) in
            if let choice = choices.first(where: { $0.word == text }) { return choice.value }
            let words = choices.map(\.word)
            let closest = Spelling.closest(to: text, among: words).map { "; did you mean \($0)?" } ?? ""
            throw BadValue("needs one of \(words.joined(separator: ", ")), not \(quoted(text))\(closest)")
        }
    }
}

/// `NAME=VALUE`, cut at the first equals sign.
struct NamedValue: Sendable, Equatable {
    let name: String
    let value: String
}

extension ValueForm<NamedValue> {
    static let named = ValueForm(placeholder: "NAME=VALUE") { text throws(BadValue) in
        // The value may be a token, so that the message repeats none of it.
        guard let equals = text.firstIndex(of: "="), equals != text.startIndex else {
            throw BadValue("needs NAME=VALUE, and this has no name before an equals sign")
        }
        return NamedValue(name: String(text[..<equals]), value: String(text[text.index(after: equals)...]))
    }
}

/// A text for a message: in quotation marks, and not longer than a line.
func quoted(_ text: String) -> String { "\"\(text.prefix(40))\(text.count > 40 ? "…" : "")\"" }
