package import Foundation
import LatchkeyCore
package import LatchkeyForms

// The answers of the native APIs. Vendors' APIs answer in their own forms. Source: `Documentation/LicenseServer.md` §6.4.
extension LicenseRefusal {
    /// The seconds for `Retry-After`, rounded up and at least 1; `nil` unless waiting helps.
    package var retryAfterSeconds: Int? {
        retryAfter.map { max(1, Int(saturating: $0.clamped.inSeconds.rounded(.up))) }
    }

    /// The body of a native API's answer.
    /// - Parameter requestID: the request's, which the log has too.
    package func body(requestID: String) -> Data {
        var error = json
        error["requestId"] = .text(requestID)
        return Data(JSONValue.object(["error": .object(error)]).canonicalText.utf8)
    }

    package static let schema: JSONSchema = .named(
        "Error",
        [
            "error": [
                "code": .text.explained("Stable; the same code as for a refused FairPlay license."),
                "reason": .text, "remedy": .text, "message": .text.explained("The key of a message for the viewer."),
                "requestId?": .text.explained("Absent if the request was not read, as with 413."),
                "retryAfter?": .positive.explained("The minimum number of seconds to wait."),
                "sessions?": JSONSchema.list(SessionConflict.schema).explained("The sessions that block the request."),
            ]
        ])

    package var json: [String: JSONValue] {
        var members: [String: JSONValue] = [
            "code": .text(code), "reason": .text(reason), "remedy": .text(remedy), "message": .text(message),
        ]
        members["retryAfter"] = retryAfterSeconds.map { .number(Double($0)) }
        if !conflicts.isEmpty { members["sessions"] = .array(conflicts.map(\.json)) }
        return members
    }
}

/// Another session of the account, as a refused viewer sees it.
package struct SessionConflict: Sendable, Hashable {
    /// The device, as the account calls it; `nil` without a name.
    package let device: String?
    /// When the session began.
    package let started: Date
    /// The code with which the next start stops it. Valid for this account only.
    package let stopCode: String

    init(_ slot: Slot) {
        device = slot.label
        started = slot.started
        stopCode = slot.stopCode
    }

    fileprivate static let schema: JSONSchema = [
        "device?": .text, "started": .date, "stop": .text.explained("The code with which the next request stops it."),
    ]

    fileprivate var json: JSONValue {
        var members: [String: JSONValue] = ["started": .text(DateText.text(started)), "stop": .text(stopCode)]
        members["device"] = device.map { .text($0.onOneLine) }
        return .object(members)
    }
}
