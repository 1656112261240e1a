import Foundation
import LatchkeyCore
import LatchkeyVendors

extension KeyEvent.Kind {
    /// - Returns: `nil` for an event that is unknown, or lacks a member.
    init?(_ record: KeyEventRecord) {
        guard let kind = Self.way(record) ?? Self.network(record) ?? Self.life(record) ?? Self.store(record) else {
            return nil
        }
        self = kind
    }

    private static func way(_ record: KeyEventRecord) -> Self? {
        switch (record.event, record.duration) {
        case ("requested", _): record.purpose.map { .requested($0) }
        case ("stageEnded", let took?): record.stage.map { .stageEnded($0, took: took) }
        case ("certificateFromCache", let saved?): .certificateFromCache(saved: saved)
        case ("prepared", let saved?): record.part.map { .prepared($0, saved: saved) }
        case ("preloaded", _): record.parts.map { .preloaded($0) }
        case ("tokenAdvice", _): record.advice.map { .tokenAdvice($0.compactMap(TokenInspection.Advice.init)) }
        case ("certificateUnrecognized", _): record.format.map { .certificateUnrecognized(format: $0) }
        case ("answered", let took?): .answered(took: took)
        case ("heldBySystem", let took?): .heldBySystem(took: took)
        case ("failed", let took?): record.error.map { .failed($0, took: took) }
        default: nil
        }
    }

    private static func network(_ record: KeyEventRecord) -> Self? {
        switch (record.event, record.http, record.code) {
        case ("replyWarning", _, _): return record.warning.map { .replyWarning($0) }
        case ("exchanged", let http?, _): return .exchanged(http)
        case ("unanswered", let http?, let code?): return .unanswered(http, code: code)
        case ("redirected", _, _):
            guard let url = record.url, let isDropped = record.credentialsDropped else { return nil }
            return .redirected(to: url, credentialsDropped: isDropped)
        case ("retrying", _, let code?):
            guard let attempt = record.attempt, let wait = record.duration else { return nil }
            return .retrying(attempt: attempt, after: wait, code: code)
        default: return nil
        }
    }

    private static func life(_ record: KeyEventRecord) -> Self? {
        switch record.event {
        case "renewalPlanned": record.duration.map { .renewalPlanned(after: $0, lease: record.lease) }
        case "renewalDue": .renewalDue
        case "renewalFailed": record.code.map { .renewalFailed(code: $0, nextAfter: record.duration) }
        case "ended": record.error.map { .ended($0) }
        case "released": .released
        case "evicted": .evicted
        case "session": record.state.map { .session($0) }
        case "sessionFailed": record.error.map { .sessionFailed($0) }
        default: nil
        }
    }

    private static func store(_ record: KeyEventRecord) -> Self? {
        switch record.event {
        case "answeredFromStore": .answeredFromStore
        case "keyStored": .keyStored
        case "storedKeyDropped": .storedKeyDropped
        case "storedKeyExpired": .storedKeyExpired
        case "storeFailed": record.storeError.map { .storeFailed($0) }
        default: nil
        }
    }
}

extension KeyEventRecord.Advice {
    init(_ advice: TokenInspection.Advice) {
        code = advice.code
        switch advice {
        case .malformed(let reason), .unsuitable(let reason): self.reason = reason
        case .expired(let date), .notYetValid(let date), .mayHaveExpired(let date):
            self.date = date.timeIntervalSince1970
        case .keyNotCovered, .noOfflineRight, .needsSession: break
        }
    }
}

extension TokenInspection.Advice {
    /// - Returns: `nil` for advice that is unknown, or lacks a member.
    fileprivate init?(_ record: KeyEventRecord.Advice) {
        let date = record.date.map { Date(timeIntervalSince1970: $0) }
        switch (record.code, record.reason, date) {
        case ("malformed", let reason?, _): self = .malformed(reason)
        case ("unsuitable", let reason?, _): self = .unsuitable(reason)
        case ("expired", _, let date?): self = .expired(date)
        case ("notYetValid", _, let date?): self = .notYetValid(date)
        case ("mayHaveExpired", _, let date?): self = .mayHaveExpired(generated: date)
        case ("keyNotCovered", _, _): self = .keyNotCovered
        case ("noOfflineRight", _, _): self = .noOfflineRight
        case ("needsSession", _, _): self = .needsSession
        default: return nil
        }
    }
}
