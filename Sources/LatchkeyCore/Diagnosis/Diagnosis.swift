// For the bridging of `CustomNSError`, which takes effect only in a file that imports Foundation.
import Foundation

/// A failure: its kind, its reason, and its remedy. For every error that needs no more details.
public struct Diagnosis: CataloguedError, Hashable {
    public let kind: Kind
    public let reason: String
    public let remedy: String
    public let isRetryable: Bool

    /// Makes an error.
    /// - Parameters:
    ///   - kind: the kind of failure.
    ///   - reason: what happened and where, without secrets.
    ///   - remedy: what to do, one imperative sentence. Defaults to the kind's.
    ///   - isRetryable: whether the same request may succeed later. Defaults to the kind's.
    package init(_ kind: Kind, _ reason: String, remedy: String? = nil, isRetryable: Bool? = nil) {
        self.kind = kind
        self.reason = reason
        self.remedy = remedy ?? kind.remedy
        self.isRetryable = isRetryable ?? kind.isRetryable
    }

    /// Makes an error with a code that the catalogue may not have.
    /// - Parameters:
    ///   - code: the stable code.
    ///   - reason: what happened and where, without secrets.
    ///   - remedy: what to do, one imperative sentence.
    package init(code: String, reason: String, remedy: String) {
        self.init(Kind(rawValue: code), reason, remedy: remedy)
    }

    /// A kind of failure by its stable code, and its entry in the catalogue.
    ///
    /// Compare it: `error.kind == .unauthenticated`. Releases add kinds; a `switch` over them needs a `default`.
    public struct Kind: RawRepresentable, Sendable {
        /// The code. Never renamed, never reused.
        public let rawValue: String
        /// The number of the `NSError` of a key request; 1 for a code that is not in the catalogue. Never changed, never reused.
        public let number: Int
        /// What happened, in one sentence; empty for a code that is not in the catalogue.
        package let meaning: String
        /// What to do first, one imperative sentence.
        package let remedy: String
        /// Whether the same request may succeed later.
        package let isRetryable: Bool

        init(_ number: Int, _ code: String, _ meaning: String, _ remedy: String, isRetryable: Bool = false) {
            self.number = number
            self.meaning = meaning
            self.remedy = remedy
            self.isRetryable = isRetryable
            rawValue = code
        }
    }
}

// MARK: - The catalogue

extension Diagnosis.Kind {
    /// Every kind of the catalogue, ordered by number.
    package static let all = loader + service + network + storedKeys + player

    /// The kind of a code: the catalogue's, or an app's own.
    public init(rawValue code: String) {
        self = Self.byCode[code] ?? Self(1, code, "", "Look at the underlying error.")
    }

    /// The kind of a number; `nil` if the catalogue does not have it.
    public init?(number: Int) {
        guard let kind = Self.all.first(where: { $0.number == number }) else { return nil }
        self = kind
    }

    /// The section of the repository's documentation about this kind and its neighbors.
    package var page: String {
        let section =
            switch number {
            case 100..<200: "#loader"
            case 200..<300: "#services"
            case 300..<400: "#network"
            case 400..<500: "#stored-keys"
            case 500..<600: "#players"
            default: ""
            }
        return "Documentation/Errors.md\(section)"
    }

    private static let byCode = Dictionary(all.map { ($0.rawValue, $0) }) { first, _ in first }
}

/// Kinds are equal if their codes are.
extension Diagnosis.Kind: Hashable {
    public static func == (one: Self, other: Self) -> Bool { one.rawValue == other.rawValue }
    public func hash(into hasher: inout Hasher) { hasher.combine(rawValue) }
}
