import Foundation
import LatchkeyCore

/// An error as the tool prints it: `{"code": …, "reason": …, "remedy": …}`, with more members for the error of a key request.
package struct Failure: Encodable, Sendable {
    package let code: String
    package private(set) var reason: String
    package let remedy: String
    /// The stage at which a key request failed; `nil` for other errors.
    package private(set) var stage: String?
    /// Whether the same request may succeed later.
    package private(set) var retryable: Bool?
    /// The number of times that the request was sent.
    package private(set) var attempts: Int?
    /// The status of the license service's reply, if it was asked.
    package private(set) var status: Int?
    package private(set) var vendorCode, requestID, vendorMessage: String?

    package init(_ error: any Error) {
        switch error {
        case let error as any DiagnosableError:
            // A host that a playlist named must not be allowed just because of that; that error's remedy names no policy.
            let options = error.remedy.contains("HostPolicy") ? " In this tool: --allow-host, --loopback-http." : ""
            (code, reason, remedy) = (error.code, error.reason, error.remedy + options)
        case is CancellationError:
            (code, reason, remedy) = ("cancelled", "The work was cancelled.", "Run it again.")
        case let error as NSError where error.userInfo["LatchkeyCode"] is String:
            code = error.userInfo["LatchkeyCode"] as? String ?? "\(error.code)"
            (reason, remedy) = (error.localizedDescription, error.localizedRecoverySuggestion ?? "")
        default:
            // Only the type, because an unknown error's text may hold anything.
            (code, reason) = ("unexpected", "An error of type \(type(of: error)) was not expected here.")
            remedy = "Report it with the command that you ran."
        }
        if let error = error as? any DetailedError { add(error.details) }
    }

    package init(code: String, reason: String, remedy: String) {
        (self.code, self.reason, self.remedy) = (code, reason, remedy)
    }

    private mutating func add(_ details: ErrorDetails) {
        (stage, retryable, attempts) = (details.stage, details.isRetryable, details.attempts)
        (status, vendorCode) = (details.status, details.vendorCode)
        (requestID, vendorMessage) = (details.requestID, details.vendorMessage)
    }

    /// Returns the failure with changes to texts from outside.
    /// - Parameters:
    ///   - words: changes sentences and codes.
    ///   - identifier: changes the request's identifier, which may look like a secret but is not.
    package func redacted(_ words: (String) -> String, identifier: (String) -> String) -> Failure {
        var failure = self
        failure.reason = words(reason)
        failure.vendorMessage = vendorMessage.map(words)
        failure.vendorCode = vendorCode.map(words)
        failure.requestID = requestID.map(identifier)
        return failure
    }

    /// One line for people, with the code at its end.
    package var text: String { "\(reason) \(remedy) (\(code))".visible }
}
