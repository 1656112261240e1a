package import Foundation
import LatchkeyCore
import LatchkeyForms

/// The notation of an option's value, and its parser.
package struct ValueForm<Value: Sendable>: Sendable {
    /// The placeholder in the help.
    package let placeholder: String
    /// The number of words on the command line. They arrive joined by NUL, which no argument contains.
    package let wordCount: Int
    /// A shell's suggestions for it.
    package let completion: Completion
    /// Parses the text. Its error is the end of a sentence that begins with the option, and gives the reason for rejecting the value.
    package let parse: @Sendable (String) throws(UsageError) -> Value

    package init(
        placeholder: String, wordCount: Int = 1, completion: Completion = .none,
        parse: @escaping @Sendable (String) throws(UsageError) -> Value
    ) {
        self.placeholder = placeholder
        self.wordCount = wordCount
        self.completion = completion
        self.parse = parse
    }
}

extension ValueForm<String> {
    /// Any text.
    package static func text(_ placeholder: String) -> Self {
        ValueForm(placeholder: placeholder) { text throws(UsageError) in text }
    }

    /// A path; not empty.
    package static func path(_ placeholder: String) -> Self {
        ValueForm(placeholder: placeholder, completion: .files) { text throws(UsageError) in
            guard !text.isEmpty else { throw UsageError("needs a path, not an empty text") }
            return text
        }
    }
}

extension ValueForm<UInt16> {
    /// A TCP port.
    package static let port = ValueForm(placeholder: "N") { text throws(UsageError) in
        guard let port = UInt16(text) else { throw UsageError("needs a port from 0 to 65535, not \(quoted(text))") }
        return port
    }
}

extension ValueForm<Int> {
    /// A number of items, from 1 on.
    package static let count = ValueForm(placeholder: "N") { text throws(UsageError) in
        guard let number = UInt32(text), number > 0 else {
            throw UsageError("needs a whole number from 1 on, not \(quoted(text))")
        }
        return Int(number)
    }
}

extension ValueForm<WordPair> {
    /// Two words.
    package static func pair(_ first: String, _ second: String) -> Self {
        ValueForm(placeholder: "\(first) \(second)", wordCount: 2, completion: .files) { text throws(UsageError) in
            let words = text.split(separator: "\0", omittingEmptySubsequences: false).map(String.init)
            guard words.count == 2 else { throw UsageError("needs two values: \(first) and \(second)") }
            return WordPair(first: words[0], second: words[1])
        }
    }
}

/// The two words of a two-word option.
package struct WordPair: Sendable, Equatable {
    package let first, second: String
}

extension ValueForm<Secret> {
    /// Hexadecimal digits for a number of bytes. The message about a wrong value never repeats it.
    package static func hex(bytes count: Int) -> Self {
        ValueForm(placeholder: "HEX") { text throws(UsageError) in
            guard let bytes = Data(hexString: text), bytes.count == count else {
                throw UsageError("needs \(2 * count) hexadecimal digits, and this is \(text.utf8.count) bytes of text")
            }
            return Secret(bytes)
        }
    }
}

extension ValueForm<Duration> {
    /// Whole seconds within bounds; a duration on the wire has 32 bits.
    package static func seconds(from least: UInt32 = 1) -> Self {
        ValueForm(placeholder: "SECONDS") { text throws(UsageError) in
            guard let number = UInt32(text), number >= least else {
                throw UsageError("needs a whole number of seconds from \(least) to \(UInt32.max), not \(quoted(text))")
            }
            return .seconds(Int64(number))
        }
    }
}

extension ValueForm {
    /// One of a set of words, each with its value.
    package static func choice(_ choices: KeyValuePairs<String, Value>) -> Self where Value: Sendable {
        let choices = choices.map { (word: $0.key, value: $0.value) }
        let words = choices.map(\.word)
        return ValueForm(placeholder: words.joined(separator: "|"), completion: .words(words)) {
            text throws(UsageError) in
            if let choice = choices.first(where: { $0.word == text }) { return choice.value }
            let closest = Spelling.closest(to: text, among: words).map { "; did you mean \($0)?" } ?? ""
            throw UsageError("needs one of \(words.joined(separator: ", ")), not \(quoted(text))\(closest)")
        }
    }
}

/// `NAME=VALUE`, cut at the first equals sign.
package struct NamedValue: Sendable, Equatable {
    package let name: String
    package let value: String
    /// Whether `@FILE` is replaced by the file's contents.
    package let mayNameFile: Bool
    /// The address that the value came from; `nil` for others.
    package let address: URL?

    package init(name: String, value: String, mayNameFile: Bool = false, address: URL? = nil) {
        (self.name, self.value, self.mayNameFile, self.address) = (name, value, mayNameFile, address)
    }
}

extension ValueForm<NamedValue> {
    package static let named = ValueForm(placeholder: "NAME=VALUE") { text throws(UsageError) in
        // The value may be a token, so the message does not repeat it.
        guard let equals = text.firstIndex(of: "=") else {
            throw UsageError(
                "needs NAME=VALUE, and this has no equals sign, so there is a name without a value or the reverse")
        }
        guard equals != text.startIndex else {
            throw UsageError("needs NAME=VALUE, and this has no name before an equals sign")
        }
        return NamedValue(
            name: String(text[..<equals]), value: String(text[text.index(after: equals)...]), mayNameFile: true)
    }
}

/// A text for a message: in quotation marks, and at most one line.
package func quoted(_ text: String) -> String { "\"\(text.prefix(40).visible)\(text.count > 40 ? "…" : "")\"" }
