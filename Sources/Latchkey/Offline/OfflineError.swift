// For the bridging of `CustomNSError`, which takes effect only in a file that imports Foundation.
import Foundation
public import LatchkeyCore

/// Why a key was not stored, found or renewed.
public struct OfflineError: CataloguedError, Equatable {
    /// The kind of error, one of 400 to 499.
    public let kind: Diagnosis.Kind
    public let reason: String

    /// Makes an error; an app's own store may throw it, with a reason that says more than the type of another error would.
    /// - Parameters:
    ///   - kind: the kind of error, one of 400 to 499.
    ///   - reason: what happened, without secrets.
    public init(_ kind: Diagnosis.Kind, _ reason: String) {
        self.kind = kind
        self.reason = reason
    }

    /// Converts any error of a store; of an error that is not a `DiagnosableError`, whose texts may hold secrets, keeps only the type.
    init(_ error: any Error, otherwise kind: Diagnosis.Kind) {
        switch error {
        case let error as OfflineError: self = error
        case let error as any DiagnosableError: self.init(kind, error.reason)
        default: self.init(kind, "The store threw \(type(of: error)).")
        }
    }
}
