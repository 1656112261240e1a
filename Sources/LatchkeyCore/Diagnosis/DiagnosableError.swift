public import Foundation

/// An error that says what happened, where, and what to do about it.
///
/// Every error type of Latchkey conforms. None of its texts holds a secret. It stays readable where it becomes an `NSError`:
/// `localizedDescription` is the reason, the recovery suggestion is the remedy, and domain and number are stable.
public protocol DiagnosableError: LocalizedError, CustomNSError, Sendable, CustomStringConvertible {
    /// A stable name of the kind of error, such as `malformedTLLV`. Never renamed, never reused.
    var code: String { get }
    /// What happened, with the offending value shortened and without secrets.
    var reason: String { get }
    /// What to do, one imperative sentence.
    var remedy: String { get }
}

extension DiagnosableError {
    public var description: String { "\(code): \(reason) \(remedy)" }
    public var errorDescription: String? { reason }
    public var failureReason: String? { nil }
    public var helpAnchor: String? { nil }
    public var recoverySuggestion: String? { remedy }

    /// The domain of the `NSError`: `Latchkey.` and the name of the type.
    public static var errorDomain: String { "Latchkey.\(Self.self)" }

    /// The number of the `NSError`: 31 bits of FNV-1a over the code, so that equal codes have equal numbers in every release.
    public var errorCode: Int {
        Int(code.utf8.reduce(0x811c_9dc5 as UInt32) { ($0 ^ UInt32($1)) &* 0x0100_0193 } & 0x7fff_ffff)
    }

    /// Reason, remedy, and the code under `LatchkeyCode`.
    public var errorUserInfo: [String: Any] {
        [NSLocalizedDescriptionKey: reason, NSLocalizedRecoverySuggestionErrorKey: remedy, "LatchkeyCode": code]
    }
}

/// An error whose kind is in the catalogue, which gives its code, its remedy and whether to try again.
///
/// A request that such an error ends fails with its kind, whatever threw it.
public protocol CataloguedError: DiagnosableError {
    /// The kind of failure, for comparisons in code.
    var kind: Diagnosis.Kind { get }
    /// Whether the same request may succeed later. Defaults to the kind's.
    var isRetryable: Bool { get }
}

extension CataloguedError {
    public var code: String { kind.rawValue }
    public var remedy: String { kind.remedy }
    public var isRetryable: Bool { kind.isRetryable }
}
