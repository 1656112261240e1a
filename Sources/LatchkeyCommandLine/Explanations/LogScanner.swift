import Foundation
import LatchkeyCore

/// Finds the error numbers and names of a log, each once, in the order of the log. One pass over bytes of any kind and number.
///
/// A number without a domain counts only if it is unambiguous: negative and known, or unsigned in 32 or 64 bits. After the name of a domain
/// or a player, every number of that domain counts. The first number after a domain's full name belongs to that domain only: if it is
/// unknown, the report says so. The same holds for an unknown domain, `Domain=VidLoader`. HTTP statuses do not count: a log is full of
/// them.
struct LogScanner {
    /// The findings so far.
    private(set) var found: [NumberExplanation] = []
    /// Numbers that are unknown in the domain that the log names, each once, at most `mostUnknown`.
    private(set) var unknown: [UnknownNumber] = []
    private var seen: Set<String> = []
    /// The number of words read, and that number at each found number.
    private var words = 0
    private var foundAt: [Int] = []
    private var unknownAt: [Int] = []
    private var word: [UInt8] = []
    /// Bytes of a dash that is not complete yet.
    private var dash: [UInt8] = []
    private var domain: NumberDomain?
    /// The domain's name in the log; `nil` if none is in force.
    private var domainName: String?
    /// Whether the domain is unknown.
    private var isForeign = false
    /// Whether the next number can only belong to the domain.
    private var isExact = false
    /// The last word but one, in lowercase.
    private var before = ""
    /// The number of further words for which the domain counts.
    private var patience = 0
    /// Whether the last word announces a domain's name.
    private var expectsDomain = false
    /// The findings for the last number without a domain, and how many words ago it was: JSON may name the domain after it.
    private var alone: (number: Int, found: Range<Int>, age: Int)?

    /// Numbers already explained, with their domain: a log repeats its errors.
    private var said: Set<Said> = []

    private struct Said: Hashable {
        let word: [UInt8]
        let domain: NumberDomain?
        let isForeign: Bool
    }

    /// More than a log has kinds of errors, and few enough to hold.
    private static let mostSaid = 4_096
    private static let mostUnknown = 64
    private static let longestWord = 512
    private static let dashes: Set<[UInt8]> = [
        [0xe2, 0x88, 0x92], [0xe2, 0x80, 0x93], [0xe2, 0x80, 0x90], [0xe2, 0x80, 0x91],
    ]

    /// Explains a text.
    static func read(_ text: String) -> (found: [NumberExplanation], unknown: [UnknownNumber]) {
        var scanner = LogScanner()
        scanner.scan(Data(text.utf8))
        return (scanner.finished(), scanner.unknown)
    }

    /// Reads the next piece of the log; a word may continue in the one after it.
    mutating func scan(_ piece: Data) {
        piece.withUnsafeBytes { bytes in
            for byte in bytes { take(byte) }
        }
    }

    /// The findings in all pieces.
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
            guard isExact || !isForeign, !said.contains(one) else { return }
            read(number: String(decoding: word, as: UTF8.self))
            if said.count < Self.mostSaid { said.insert(one) }
        } else {
            read(String(decoding: word, as: UTF8.self), before: byte)
        }
    }

    private mutating func read(number text: String) {
        guard let number = ErrorNumber.read(text) else { return }
        if self.before == "http", let words = BesideNote.status(number) {
            note(words, remedy: nil) { number, domain in domain == nil || domain == "url" }
        }
        let before = found.count
        if isExact, let domainName {
            isExact = false
            let known = domain?.filter(NumberExplanation.all(of: number)) ?? []
            return known.isEmpty ? leaveUnknown(number, of: domainName) : add(known)
        }
        let digits = text.utf8.count - (text.hasPrefix("-") ? 1 : 0)
        let isTelling = text.hasPrefix("-") ? digits >= 3 : digits >= 10
        defer { if domain == nil { alone = (number, before..<found.count, 0) } }
        // JW Player's numbers, shown without its name: `(Error Code: 102630)`.
        let isPlayers = self.before == "code" && digits == 6
        guard isTelling || domain != nil || isPlayers else { return }
        let all = NumberExplanation.all(of: number)
        if let known = domain?.filter(all), !known.isEmpty { return add(known) }
        // HTTP and players have small numbers; without context these could be anything.
        let alone = all.filter {
            isTelling && Self.speakAlone.contains($0.domain) || isPlayers && $0.domain == "jwPlayer"
        }
        add(alone)
        // Five digits are almost certainly an error of a known family.
        if isTelling, alone.isEmpty, digits == 5, UnknownNumber.family(of: number) != nil {
            leaveUnknown(number, of: Self.nobody)
        }
    }

    private mutating func leaveUnknown(_ number: Int, of domain: String) {
        let new = UnknownNumber(number: number, domain: domain)
        let isNew = !unknown.contains { $0.number == number && [$0.domain, Self.nobody].contains(domain) }
        guard number != 0, unknown.count < Self.mostUnknown, isNew else { return }
        unknown.append(new)
        unknownAt.append(words)
    }

    private static let nobody = "no named domain"
    private static let speakAlone = Set(
        [FairPlayErrorExplanation.Domain.system, .avFoundation, .url, .keyServer, .appEncryption].map(\.rawValue))

    /// A name of an error, a domain, or a word in between.
    private mutating func read(_ text: String, before byte: UInt8?) {
        defer {
            expectsDomain = Self.domainWords.contains(before) && byte.map { Self.domainMarks.contains($0) } == true
        }
        alone?.age += 1
        words += 1
        let small = text.lowercased()
        noteBeside(small)
        defer { before = small }
        if Self.nameBeginnings.contains(where: text.hasPrefix) || text.contains("_") {
            let named = ErrorNames.explanations(of: text)
            if !named.isEmpty { return add(named) }
        }
        let isWhole = expectsDomain || text.hasSuffix("ErrorDomain")
        if let named = NumberDomain(word: text), !named.isHTTP {
            take(named, isWhole, text)
        } else if isWhole {
            take(nil, true, text)
        } else if before == "severity", small == "category" {
            take(.shaka, false, text)
        } else {
            patience -= 1
            if patience <= 0 { (domain, domainName, isForeign, isExact) = (nil, nil, false, false) }
        }
    }

    private static let nameBeginnings = [
        "AVError", "NSURLError", "URLError.", "keySystem", "eme-failed-", "ExpoVideo.",
    ]

    /// - Parameters:
    ///   - new: the domain; `nil` if it is unknown.
    ///   - isWhole: whether the log names the domain as one.
    private mutating func take(_ new: NumberDomain?, _ isWhole: Bool, _ name: String) {
        (domain, domainName, isForeign, isExact, patience) = (new, name, new == nil, isWhole, 4)
        if isWhole { rereadNumberBefore(of: name) }
    }

    private static let domainWords: Set = ["domain", "errordomain", "nserrordomain"]

    /// The characters between the word "domain" and its name: `Domain=NAME`, `"domain":"NAME"`, `Domain[NAME]`.
    private static let domainMarks: Set<UInt8> = Set("=:[\"".utf8)

    /// Reads a number again whose domain follows it: `{"code":-1000,"domain":"RCTVideo"}`.
    private mutating func rereadNumberBefore(of name: String) {
        guard let alone, alone.age <= 2, alone.found.upperBound == found.count else { return }
        for explanation in found[alone.found] { seen.remove(explanation.identity) }
        found.removeSubrange(alone.found)
        foundAt.removeSubrange(alone.found)
        if unknown.last == UnknownNumber(number: alone.number, domain: Self.nobody) {
            unknown.removeLast()
            unknownAt.removeLast()
        }
        self.alone = nil
        let known = domain?.filter(NumberExplanation.all(of: alone.number)) ?? []
        known.isEmpty ? leaveUnknown(alone.number, of: name) : add(known)
        // What follows may be an error below this one.
        isExact = false
    }

    private mutating func add(_ explanations: [NumberExplanation]) {
        for explanation in explanations where seen.insert(explanation.identity).inserted {
            found.append(explanation)
            foundAt.append(words)
        }
    }

    /// Adds a word's note to the numbers before it.
    private mutating func noteBeside(_ word: String) {
        for note in BesideNote.all where note.matches(word) {
            self.note(note.text, remedy: note.remedy) { note.fits($0, $1) }
        }
    }

    /// Adds a note to the matching numbers before it that have none yet.
    private mutating func note(_ text: String, remedy: String?, _ fits: (Int, String?) -> Bool) {
        for index in found.indices.suffix(Self.nearest) where fits(found[index].number, found[index].domain) {
            guard words - foundAt[index] <= Self.reach, found[index].beside.isEmpty else { continue }
            found[index].beside.append(text)
            if let remedy { found[index].remedies = [remedy] }
        }
        for index in unknown.indices.suffix(Self.nearest) where fits(unknown[index].number, nil) {
            guard words - unknownAt[index] <= Self.reach, unknown[index].beside.isEmpty else { continue }
            unknown[index].beside.append(text)
        }
    }

    /// How many numbers back, and how many words after a number, a word may still refer to it.
    private static let nearest = 4
    private static let reach = 64
}
