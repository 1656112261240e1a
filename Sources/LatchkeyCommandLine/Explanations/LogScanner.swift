import Foundation
import LatchkeyCore

/// Finds the error numbers and names of a log, each once, in the order of the log. One pass over bytes of any kind and number.
///
/// A number by itself counts if it can be nothing else: negative and known, or unsigned in 32 or 64 bits. After the name of a domain
/// or a player, every number of that domain counts. Beside a domain that is known to nobody here, `Domain=RCTVideo`, no number counts: it
/// is another's. HTTP statuses do not count: a log is full of them.
struct LogScanner {
    /// What was found so far.
    private(set) var found: [NumberExplanation] = []
    private var seen: Set<String> = []
    private var word: [UInt8] = []
    /// Bytes of a dash that is not complete yet.
    private var dash: [UInt8] = []
    private var domain: NumberDomain?
    /// Whether the domain is one that is not known.
    private var isForeign = false
    /// How many words further the domain counts.
    private var patience = 0
    /// Whether the last word says that a domain's name follows.
    private var expectsDomain = false
    /// What the last number without a domain brought, and how many words ago: JSON may name the domain behind it.
    private var alone: (found: Range<Int>, age: Int)?

    /// Numbers of which everything was said already, with the domain that they came under: a log repeats its errors.
    private var said: Set<Said> = []

    private struct Said: Hashable {
        let word: [UInt8]
        let domain: NumberDomain?
        let isForeign: Bool
    }

    /// More than a log has kinds of errors, and few enough to hold.
    private static let mostSaid = 4_096
    private static let longestWord = 96
    private static let dashes: Set<[UInt8]> = [
        [0xe2, 0x88, 0x92], [0xe2, 0x80, 0x93], [0xe2, 0x80, 0x90], [0xe2, 0x80, 0x91],
    ]

    /// Explains what a text holds.
    static func explanations(in text: String) -> [NumberExplanation] {
        var scanner = LogScanner()
        scanner.scan(Data(text.utf8))
        return scanner.finished()
    }

    /// Reads the next piece of the log; a word may continue in the one after it.
    mutating func scan(_ piece: Data) {
        piece.withUnsafeBytes { bytes in
            for byte in bytes { take(byte) }
        }
    }

    /// What was found in all pieces.
    mutating func finished() -> [NumberExplanation] {
        endWord()
        return found
    }

    private mutating func take(_ byte: UInt8) {
        if !dash.isEmpty || byte == 0xe2 {
            return takeDash(byte)
        }
        Self.isPart(byte) ? append(byte) : endWord(before: byte)
    }

    /// A dash has three bytes, of which the first two begin other characters too.
    private mutating func takeDash(_ byte: UInt8) {
        let isContinued = dash.isEmpty || (0x80...0xbf).contains(byte)
        if isContinued { dash.append(byte) }
        guard !isContinued || dash.count == 3 else { return }
        let isDash = Self.dashes.contains(dash)
        dash = []
        isDash ? append(UInt8(ascii: "-")) : endWord()
        if !isContinued { take(byte) }
    }

    /// Letters, digits, and what ties them into names, paths and decimals.
    private static func isPart(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"): true
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."): true
        case UInt8(ascii: "_"), UInt8(ascii: "/"): true
        default: false
        }
    }

    private mutating func append(_ byte: UInt8) {
        // Keeps one byte more than the longest word, so that a longer word stays too long.
        if word.count <= Self.longestWord { word.append(byte) }
    }

    private mutating func endWord(before byte: UInt8? = nil) {
        defer { word.removeAll(keepingCapacity: true) }
        while word.last == UInt8(ascii: ".") { word.removeLast() }
        guard !word.isEmpty, word.count <= Self.longestWord else { return }
        if let first = word.first, first == UInt8(ascii: "-") || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(first)
        {
            let one = Said(word: word, domain: domain, isForeign: isForeign)
            guard !isForeign, !said.contains(one) else { return }
            let before = found.count
            add(explanations(ofNumber: String(decoding: word, as: UTF8.self)))
            if domain == nil { alone = (before..<found.count, 0) }
            if said.count < Self.mostSaid { said.insert(one) }
        } else {
            read(String(decoding: word, as: UTF8.self), before: byte)
        }
    }

    private func explanations(ofNumber text: String) -> [NumberExplanation] {
        let digits = text.utf8.count - (text.hasPrefix("-") ? 1 : 0)
        let isTelling = text.hasPrefix("-") ? digits >= 3 : digits >= 10
        guard isTelling || domain != nil, let number = ErrorNumber.read(text) else { return [] }
        let all = NumberExplanation.all(of: number)
        if let known = domain?.filter(all), !known.isEmpty { return known }
        // HTTP and players have small numbers; alone these could be anything.
        return isTelling ? all.filter { Self.speakAlone.contains($0.domain) } : []
    }

    private static let speakAlone = Set(
        [FairPlayErrorExplanation.Domain.system, .avFoundation, .url, .keyServer].map(\.rawValue))

    /// A name of an error, a domain, or a word in between.
    private mutating func read(_ text: String, before byte: UInt8?) {
        defer { expectsDomain = text.lowercased() == "domain" && byte.map { Self.domainMarks.contains($0) } == true }
        alone?.age += 1
        let isName = text.hasPrefix("AVError") || text.hasPrefix("NSURLError") || text.hasPrefix("URLError.")
        if isName || text.contains("_") {
            let named = ErrorNames.explanations(of: text)
            if !named.isEmpty { return add(named) }
        }
        if let named = NumberDomain(word: text), !named.isHTTP {
            (domain, isForeign, patience) = (named, false, 4)
        } else if expectsDomain || text.hasSuffix("ErrorDomain") {
            (domain, isForeign, patience) = (nil, true, 4)
            forgetNumberBefore()
        } else {
            patience -= 1
            if patience <= 0 { (domain, isForeign) = (nil, false) }
        }
    }

    /// What stands between the word "domain" and its name: `Domain=NAME`, `"domain":"NAME"`, `Domain[NAME]`.
    private static let domainMarks: Set<UInt8> = Set("=:[\"".utf8)

    /// Takes back what a number brought whose domain is not known, as the words behind it say.
    private mutating func forgetNumberBefore() {
        guard let alone, alone.age <= 2, alone.found.upperBound == found.count else { return }
        for explanation in found[alone.found] { seen.remove("\(explanation.domain) \(explanation.number)") }
        found.removeSubrange(alone.found)
        self.alone = nil
    }

    private mutating func add(_ explanations: [NumberExplanation]) {
        for explanation in explanations where seen.insert("\(explanation.domain) \(explanation.number)").inserted {
            found.append(explanation)
        }
    }
}
