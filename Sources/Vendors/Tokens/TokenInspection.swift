public import Foundation

/// What a token says of itself: facts in the order to show them, and advice.
public struct TokenInspection: Sendable, Hashable {
    /// The form that was assumed.
    public var format: TokenFormat
    /// Facts that are not secret, each at most 300 characters long.
    public var facts: [Fact] = []
    /// What is wrong or may be; empty where nothing is.
    public var advice: [Advice] = []

    /// A name and a value.
    public struct Fact: Sendable, Hashable {
        /// What it is, such as `expires`.
        public var name: String
        /// Its value.
        public var value: String
    }

    /// What a look into a token can find.
    public enum Advice: Sendable, Hashable {
        /// It is not of the form that the vendor documents.
        case malformed(String)
        /// Its time is over.
        case expired(Date)
        /// Its time has not begun.
        case notYetValid(Date)
        /// It lists keys or content, and not this one.
        case keyNotCovered
        /// It does not let the key be stored.
        case noOfflineRight
        /// It may have run out; its lifetime is an account's setting and not in the token.
        case mayHaveExpired(generated: Date)
        /// It is of the right form, and for another service, DRM or purpose than this.
        case unsuitable(String)
    }
}

extension TokenInspection {
    /// Adds a fact in few words; a long word, which may be a token itself, gives way to its length.
    mutating func add(_ name: String, _ value: String?) {
        guard let value = value?.inFewWords, !value.isEmpty else { return }
        facts.append(Fact(name: name, value: value))
    }

    /// States until when a token is good, and advises where that is over.
    mutating func checkEnd(_ end: Date?, _ date: Date, as name: String = "expires") {
        add(name, end?.iso8601)
        if let end, end <= date { advice.append(.expired(end)) }
    }

    /// How far a service's clock may be ahead of this one before a token just made counts as not yet valid, in seconds.
    static let clockLeeway: Double = 60

    /// States from when a token is good, and advises where that is yet to come.
    mutating func checkStart(_ start: Date?, _ date: Date, as name: String = "valid from") {
        add(name, start?.iso8601)
        if let start, start.timeIntervalSince(date) > Self.clockLeeway { advice.append(.notYetValid(start)) }
    }

    /// States whether the key may be stored, and advises where it is to be stored and may not.
    mutating func checkStorage(_ allowed: Bool?, _ use: TokenUse) {
        add("may be stored", allowed.map(String.init))
        if use.purpose == .persistable, allowed == false { advice.append(.noOfflineRight) }
    }
}

extension TokenInspection.Advice: CustomStringConvertible {
    /// A stable name of the advice.
    public var code: String {
        switch self {
        case .malformed: "malformed"
        case .expired: "expired"
        case .notYetValid: "notYetValid"
        case .keyNotCovered: "keyNotCovered"
        case .noOfflineRight: "noOfflineRight"
        case .mayHaveExpired: "mayHaveExpired"
        case .unsuitable: "unsuitable"
        }
    }

    public var description: String {
        switch self {
        case .malformed(let reason): "The token is malformed: \(reason)."
        case .expired(let date): "The token expired at \(date.iso8601)."
        case .notYetValid(let date): "The token is valid from \(date.iso8601) only."
        case .keyNotCovered: "The token does not cover this key."
        case .noOfflineRight: "The token does not allow the key to be stored."
        case .mayHaveExpired(let date): "The token was generated at \(date.iso8601); production tokens live about 30 s."
        case .unsuitable(let reason): "The token does not fit: \(reason)."
        }
    }
}

extension Date {
    /// The date in ISO 8601, whole seconds, UTC.
    package var iso8601: String { formatted(.iso8601) }

    /// - Parameter seconds: Unix seconds; nil outside the years 1970 to 9999, which no calendar has to be asked about.
    init?(unixSeconds seconds: Double) {
        guard (0...253_402_300_799).contains(seconds) else { return nil }
        self.init(timeIntervalSince1970: seconds)
    }

    /// Reads ISO 8601 as vendors write it: with or without fractions of a second, `Z` or an offset.
    init?(lenientISO8601 text: String) {
        guard text.utf8.count <= 40 else { return nil }
        let format = ISO8601DateFormatter()
        for options: ISO8601DateFormatter.Options in [
            [.withInternetDateTime], [.withInternetDateTime, .withFractionalSeconds],
        ] {
            format.formatOptions = options
            guard let date = format.date(from: text) else { continue }
            self.init(unixSeconds: date.timeIntervalSince1970)
            return
        }
        return nil
    }
}
