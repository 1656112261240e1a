package import Foundation
package import Latchkey
import LatchkeyCore

/// One step with a start and a duration, all of its texts fit to be shown.
package struct TraceSpan: Sendable {
    /// The kind of step.
    package enum Kind: Sendable, Hashable {
        /// All steps of a key.
        case key
        /// A stage of it.
        case stage
        /// A request and its reply.
        case request
        /// A wait, such as before the next attempt.
        case wait
        /// Work of another kind, such as decoding.
        case work
        /// A request as the server saw it.
        case service
    }

    package let kind: Kind
    /// A few words.
    package let name: String
    /// When it began, by the wall clock.
    package let start: Date
    /// How long it took.
    package let length: Duration
    /// The loader that it belongs to, if several are in one trace.
    package var owner = ""
    /// The stage's name; empty for none.
    package var stage = ""
    /// The request and its result, reduced to the part that a trace shows; `nil` for other spans.
    package var exchange: RecordedExchange? { didSet { exchange = exchange?.shown } }
    /// The reason for the wait, in words; `nil` if it did not wait.
    package var waitedFor: String?
    /// The code of the error, or `nil`.
    package var code: String?
    /// The span's ID and its parent's, 16 hexadecimal digits each.
    var spanID = ""
    var parentID: String?

    package init(_ kind: Kind, _ name: String, from start: Date, for length: Duration) {
        (self.kind, self.name, self.start, self.length) = (kind, TraceText.shown(name), start, max(.zero, length))
    }

    package var end: Date { start.addingTimeInterval(length.inSeconds) }
}

extension RecordedExchange {
    /// In the form that a trace shows: without header fields and bodies, and without secrets in its texts.
    fileprivate var shown: Self {
        var shown = self
        shown.request = request.map {
            RecordedRequest(
                method: TraceText.shown(String($0.method.prefix(20))), url: TraceText.shown(url: $0.url))
        }
        shown.reply = reply.map { HTTPReply(status: $0.status) }
        shown.requestID = requestID.map { TraceText.shown($0) }
        return shown
    }
}

/// A problem: its stage, its reason and its remedy.
package struct TraceProblem: Sendable, Hashable {
    package let stage, code, reason, remedy: String
    /// The key's URI; empty for none.
    package let key: String

    package init(stage: String, code: String, reason: String, remedy: String, key: String = "") {
        self.stage = TraceText.shown(stage)
        self.code = TraceText.shown(code)
        self.reason = TraceText.shown(reason)
        self.remedy = TraceText.shown(remedy)
        self.key = TraceText.shown(url: key)
    }

    /// The error of an event; `nil` if it has none, or only says that the key is no longer wanted.
    init?(_ kind: KeyEvent.Kind, about key: String) {
        switch kind {
        case .failed(let error, _) where error.kind != .cancelled: self.init(error, about: key)
        case .ended(let error) where error.kind != .cancelled: self.init(error, about: key)
        case .sessionFailed(let error): self.init(error, about: key)
        default: return nil
        }
    }

    package init(_ error: ContentKeyError, about key: String = "") {
        self.init(
            stage: error.stage?.rawValue ?? "start", code: error.code, reason: error.reason, remedy: error.remedy,
            key: key)
    }
}

/// A lease of a key, and when its renewal was planned.
struct TraceLease: Sendable {
    let key: String
    let start: Date
    /// `nil` if its length is not known.
    let length: Duration?
    let renewal: Duration

    init?(_ event: KeyEvent) {
        guard case .renewalPlanned(let after, let lease) = event.kind else { return nil }
        (key, start, length, renewal) = (TraceText.shown(url: event.keyText), event.date, lease, after)
    }
}
