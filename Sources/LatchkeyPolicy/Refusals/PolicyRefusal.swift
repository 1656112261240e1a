package import Foundation
import LatchkeyCore
package import LatchkeyForms

/// A refusal with what the native faces say beside it: a text's key, when to come again, and which sessions are in the way.
///
/// Vendors' faces answer with the `refusal` in it, in their own forms.
///
/// Source: `Documentation/LicenseServer.md` §6.4.
package struct PolicyRefusal: Error, Equatable {
    /// What is refused, with code, status, reason and remedy.
    package let refusal: LicenseRefusal
    /// The key of the text to show the viewer. Defaults to the code.
    package let message: String
    /// How long to wait at least; `nil` unless waiting helps.
    package let retryAfter: Duration?
    /// The sessions that are in the way, the oldest first.
    package let conflicts: [SessionConflict]
    /// Whether only this key is left out of the answer to a request for several.
    package let leavesOut: Bool

    /// - Parameters:
    ///   - refusal: what is refused.
    ///   - message: the key of the text to show. Defaults to the code.
    ///   - retryAfter: how long to wait at least. Defaults to 1 s where waiting helps.
    ///   - conflicts: the sessions that are in the way.
    ///   - leavesOut: whether only this key is left out.
    package init(
        _ refusal: LicenseRefusal, message: String? = nil, retryAfter: Duration? = nil,
        conflicts: [SessionConflict] = [], leavesOut: Bool = false
    ) {
        self.refusal = refusal
        self.message = message ?? refusal.code
        self.retryAfter = refusal.retry == .later ? retryAfter ?? .seconds(1) : nil
        self.conflicts = conflicts
        self.leavesOut = leavesOut
    }

    /// The seconds for `Retry-After`, rounded up and at least 1; `nil` unless waiting helps.
    package var retryAfterSeconds: Int? {
        retryAfter.map { max(1, Int(saturating: $0.clamped.inSeconds.rounded(.up))) }
    }

    /// The body of a native face's answer.
    /// - Parameter requestID: the request's, which the log has too.
    package func body(requestID: String) -> Data {
        var error = json
        error["requestId"] = .text(requestID)
        return Data(JSONValue.object(["error": .object(error)]).canonicalText.utf8)
    }

    package var json: [String: JSONValue] {
        var members: [String: JSONValue] = [
            "code": .text(refusal.code), "reason": .text(refusal.reason), "remedy": .text(refusal.remedy),
            "message": .text(message),
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
    /// What the next start sends to stop it. Means something for this account only.
    package let stopCode: String

    init(_ slot: Slot) {
        device = slot.label
        started = slot.started
        stopCode = slot.stopCode
    }

    fileprivate var json: JSONValue {
        var members: [String: JSONValue] = ["started": .text(DateText.text(started)), "stop": .text(stopCode)]
        members["device"] = device.map { .text($0.onOneLine) }
        return .object(members)
    }
}
