import Foundation
import Latchkey
import LatchkeyCore
import LatchkeyFairPlay
import LatchkeyVendors

/// What the tool says of an error: `{"code": …, "reason": …, "remedy": …}`, and of a key request's more.
struct Failure: Encodable, Sendable {
    let code: String
    let reason: String
    let remedy: String
    /// Where on a key's way it happened; for the error of a key request alone.
    private(set) var stage: ContentKeyError.Stage?
    /// Whether the same request may succeed later.
    private(set) var retryable: Bool?
    /// How often the request was sent.
    private(set) var attempts: Int?
    /// What the license service said, where it was asked.
    private(set) var status: Int?
    private(set) var vendorCode, requestID, vendorMessage: String?

    init(_ error: any Error) {
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

    /// Something that an inspection found.
    init(_ finding: InspectionFinding) { (code, reason, remedy) = (finding.code, finding.reason, finding.remedy) }

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

    /// For people, in one line with the code at its end.
    var text: String { "\(reason) \(remedy) (\(code))" }
}
