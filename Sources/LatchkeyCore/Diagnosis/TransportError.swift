// For what a `CustomNSError` is to the system, which only a file that imports Foundation takes over.
import Foundation

/// Why no reply came.
public struct TransportError: CataloguedError {
    /// The kind of error, one of 300 to 399.
    public let kind: Diagnosis.Kind
    public let reason: String

    /// Makes an error.
    /// - Parameters:
    ///   - kind: the kind of error, one of 300 to 399.
    ///   - reason: what happened, without secrets.
    public init(_ kind: Diagnosis.Kind, _ reason: String) {
        self.kind = kind
        self.reason = reason
    }
}
