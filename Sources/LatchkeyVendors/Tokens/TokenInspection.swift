public import Foundation

/// A token's own claims: facts, in the order in which to show them, and advice.
public struct TokenInspection: Sendable, Hashable {
    /// The assumed form.
    package var format: TokenFormat
    /// Facts that are not secret, each of at most 300 characters.
    package var facts: [Fact] = []
    /// The problems and possible problems; empty if there are none.
    package var advice: [Advice] = []

    /// A name and a value.
    package struct Fact: Sendable, Hashable {
        /// Its name, such as `expires`.
        package var name: String
        /// Its value.
        package var value: String
    }

    /// A finding about a token.
    public enum Advice: Sendable, Hashable {
        /// It does not have the form that the vendor documents.
        case malformed(String)
        /// It has expired.
        case expired(Date)
        /// It is not valid yet.
        case notYetValid(Date)
        /// It lists keys or content without this one.
        case keyNotCovered
        /// It does not allow the key to be stored.
        case noOfflineRight
        /// It may have expired. Its lifetime is a setting of the account and not in the token.
        case mayHaveExpired(generated: Date)
        /// It has the right form, but is for another service, DRM or purpose.
        case unsuitable(String)
        /// Its licenses belong to a session (NAGRA), and no setting says where one is opened.
        case needsSession
    }
}

extension TokenInspection {
    /// Adds a fact. A long word, which may be a token, is replaced by its length.
    mutating func add(_ name: String, _ value: String?) {
        guard let value = value?.inFewWords, !value.isEmpty else { return }
        facts.append(Fact(name: name, value: value))
    }

    /// Adds the end of a token's validity, and advice if it has passed.
    mutating func checkEnd(_ end: Date?, _ date: Date, as name: String = "expires") {
        add(name, end?.iso8601)
        if let end, end <= date { advice.append(.expired(end)) }
    }

    /// How far a service's clock may be ahead of this one, in seconds, before its new tokens count as not yet valid.
    static let clockLeeway: Double = 60

    /// Adds the start of a token's validity, and advice if it is in the future.
    mutating func checkStart(_ start: Date?, _ date: Date, as name: String = "valid from") {
        add(name, start?.iso8601)
        if let start, start.timeIntervalSince(date) > Self.clockLeeway { advice.append(.notYetValid(start)) }
    }

    /// Adds whether the key may be stored, and advice if it may not but will be.
    mutating func checkStorage(_ allowed: Bool?, _ use: TokenUse) {
        add("may be stored", allowed.map(String.init))
        if use.purpose == .persistable, allowed == false { advice.append(.noOfflineRight) }
    }
}

extension TokenInspection.Advice: CustomStringConvertible {
    /// A stable name.
    package var code: String {
        switch self {
        case .malformed: "malformed"
        case .expired: "expired"
        case .notYetValid: "notYetValid"
        case .keyNotCovered: "keyNotCovered"
        case .noOfflineRight: "noOfflineRight"
        case .mayHaveExpired: "mayHaveExpired"
        case .unsuitable: "unsuitable"
        case .needsSession: "needsSession"
        }
    }

    /// What to do, one imperative sentence.
    package var remedy: String {
        switch self {
        case .malformed: "Compare it with the vendor's documentation of its tokens."
        case .expired, .mayHaveExpired: "Get a fresh token right before the license request."
        case .notYetValid: "Check the clocks of this machine and of the token service."
        case .unsuitable: "Have the token service make a token for this service."
        case .keyNotCovered: "Have the token service list the key."
        case .noOfflineRight: "Have the token service allow storing, or ask for a streaming key."
        case .needsSession: "Set sessionURL to the address of the vendor's session service."
        }
    }

    public var description: String { "The token \(predicate)." }

    /// The finding with the token's origin in its place.
    package func described(from origin: ValueOrigin) -> String { "\(origin) \(predicate)." }

    private var predicate: String {
        switch self {
        case .malformed(let reason): "is malformed: \(reason)"
        case .expired(let date): "expired at \(date.iso8601)"
        case .notYetValid(let date): "is valid from \(date.iso8601) only"
        case .keyNotCovered: "does not cover this key"
        case .noOfflineRight: "does not allow the key to be stored"
        case .mayHaveExpired(let date): "was generated at \(date.iso8601); production tokens live about 30 s"
        case .unsuitable(let reason): "does not fit: \(reason)"
        case .needsSession: "needs a session, and the setting \"sessionURL\" is not given"
        }
    }
}

extension Date {
    /// The date in ISO 8601, whole seconds, UTC.
    package var iso8601: String { formatted(.iso8601) }

    /// - Parameter seconds: Unix seconds. The result is `nil` outside the years 1970 to 9999, which every calendar can represent.
    init?(unixSeconds seconds: Double) {
        guard (0...253_402_300_799).contains(seconds) else { return nil }
        self.init(timeIntervalSince1970: seconds)
    }

    /// Reads ISO 8601 as vendors write it: with or without fractions of a second, with `Z` or an offset.
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
