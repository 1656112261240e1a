import Foundation
import LatchkeyCore
package import LatchkeyDecision
import LatchkeyFairPlay
package import LatchkeyForms
import LatchkeyHTTP

/// A refusal as DoveRunner numbers it.
///
/// Source: `Documentation/Vendors/DoveRunner.md`, useful codes.
package struct DoveRunnerError: Sendable {
    /// Four digits.
    package let code: String
    package let message: String

    /// `nil` for refusals outside the vendor's numbers: method and media type.
    package init?(_ refusal: LicenseRefusal) {
        switch refusal.kind {
        case .vendor(let code, _): self.code = code
        case .unknownTenant: code = "1003"
        case .unknownKey, .ambiguousKey: code = "7001"
        case .tokenMalformed: code = "7009"
        case .tokenExpired, .tokenNotYetValid: code = "7011"
        case .notCovered, .policy: code = "7012"
        case .tokenUsed, .sessionLimit: code = "7016"
        case .tokenSignature: code = "7019"
        case .overloaded: code = "7304"
        case .contentMismatch: code = "7308"
        case .spc(.unknownCertificate), .spc(.rsaDecryptFailed): code = "7316"
        case .spc: code = "7317"
        case .tokenMissing, .malformedRequest: code = "9001"
        case .method, .mediaType: return nil
        }
        message = refusal.reason
    }

    /// `{"errorCode":"…","message":"…"}`.
    package var json: [String: JSONValue] { ["errorCode": .text(code), "message": .text(message)] }

    /// The same inside the message of an error 8002.
    package var nested: [String: JSONValue] {
        let inner = HTTPResponse.json(["ERROR": .text(code), "MESSAGE": .text(message)]).bytes ?? Data()
        return ["errorCode": "8002", "message": String(decoding: inner, as: UTF8.self)].mapValues { .text($0) }
    }
}

extension LicenseRefusal {
    /// A refusal with one of DoveRunner's numbers.
    package static func doveRunner(_ code: String, _ reason: String) -> LicenseRefusal {
        LicenseRefusal(
            .vendor(code: code, status: 200), reason: reason, remedy: "Look the number up in the vendor's error table.")
    }
}
