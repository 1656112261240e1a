import Foundation
package import Latchkey
import LatchkeyCore
import LatchkeyVendors

/// What the tool prints about an error: `{"code": …, "reason": …, "remedy": …}`, and more about the error of a key request.
package struct Failure: Encodable, Sendable {
    package let code: String
    package private(set) var reason: String
    package let remedy: String
    /// The stage at which a key request failed; `nil` for other errors.
    package private(set) var stage: ContentKeyError.Stage?
    /// Whether the same request may succeed later.
    package private(set) var retryable: Bool?
    /// How often the request was sent.
    package private(set) var attempts: Int?
    /// What the license service replied, if it was asked.
    package private(set) var status: Int?
    package private(set) var vendorCode, requestID, vendorMessage: String?

    package init(_ error: any Error) {
        switch error {
        case let error as any DiagnosableError:
            (code, reason, remedy) = (error.code, error.reason, error.remedy)
        case is CancellationError:
            (code, reason, remedy) = ("cancelled", "The work was cancelled.", "Run it again.")
        case let error as NSError where error.domain == ContentKeyError.errorDomain:
            code = error.userInfo[ContentKeyError.UserInfoKey.code] as? String ?? "\(error.code)"
            (reason, remedy) = (error.localizedDescription, error.localizedRecoverySuggestion ?? "")
        default:
            // The type alone: an unknown error's text may hold anything.
            (code, reason) = ("unexpected", "An error of type \(type(of: error)) was not expected here.")
            remedy = "Report it with the command that you ran."
        }
        if let error = error as? ContentKeyError { add(error) }
        if let error = error as? IntegrationError { add(error) }
    }

    package init(code: String, reason: String, remedy: String) {
        (self.code, self.reason, self.remedy) = (code, reason, remedy)
    }

    private mutating func add(_ error: ContentKeyError) {
        (stage, retryable, attempts) = (error.stage, error.isRetryable, error.attempts)
        add(error.service)
    }

    private mutating func add(_ error: IntegrationError) {
        guard error.service != nil else { return }
        retryable = error.isRetryable
        add(error.service)
    }

    private mutating func add(_ service: ServiceReply?) {
        guard let service else { return }
        (status, vendorCode) = (service.status, service.code)
        (requestID, vendorMessage) = (service.requestID, service.message)
    }

    /// Returns the failure with changed texts, where they come from outside.
    /// - Parameters:
    ///   - words: changes sentences and codes.
    ///   - identifier: changes the request's identifier, which may look like a secret and is none.
    package func redacted(_ words: (String) -> String, identifier: (String) -> String) -> Failure {
        var failure = self
        failure.reason = words(reason)
        failure.vendorMessage = vendorMessage.map(words)
        failure.vendorCode = vendorCode.map(words)
        failure.requestID = requestID.map(identifier)
        return failure
    }

    /// For people, in one line with the code at its end.
    package var text: String { "\(reason) \(remedy) (\(code))".visible }
}
