// For the bridging of `CustomNSError`, which takes effect only in a file that imports Foundation.
import Foundation

/// The reason why no reply came.
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
