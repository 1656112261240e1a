import LatchkeyCore

extension KeyEvent: CustomStringConvertible {
    /// One line for a log, without secrets and control characters:
    /// `#3 movie-1 skd://host/movie: POST https://host/license gave 200 in 143 ms`, with the title if the app named it.
    public var description: String {
        let number = exchange == 0 ? "" : "#\(exchange) "
        let title = asset.map { "\($0) " } ?? ""
        let name = keyText.isEmpty ? "" : "\(keyText): "
        return "\(number)\(title)\(name)\(kind)".onOneLine
    }

    /// The importance of an event.
    public enum Level: String, Sendable, Hashable, Codable, CaseIterable, Comparable {
        /// A step on the way.
        case debug
        /// The outcome of a key.
        case info
        /// A problem that may still be resolved.
        case warning
        /// A key is missing.
        case error

        public static func < (one: Self, other: Self) -> Bool { one.rank < other.rank }
        private var rank: Int { Self.allCases.firstIndex(of: self) ?? 0 }
    }

    /// Its importance.
    public var level: Level {
        switch kind {
        case .stageEnded, .certificateFromCache, .prepared, .exchanged, .redirected: .debug
        case .requested, .preloaded, .renewalPlanned, .renewalDue, .released, .answeredFromStore, .keyStored, .session,
            .answered, .heldBySystem:
            .info
        case .tokenAdvice, .unanswered, .retrying, .renewalFailed, .evicted, .storedKeyDropped, .storedKeyExpired,
            .storeFailed,
            .certificateUnrecognized, .replyWarning:
            .warning
        case .failed(let error, _): error.isReportable ? .error : .info
        case .ended, .sessionFailed: .error
        }
    }
}

extension KeyEvent.Kind: CustomStringConvertible {
    /// A short description of the event.
    public var description: String {
        switch self {
        case .requested(let purpose): "key requested (\(purpose))"
        case .answered(let took): "answered in \(took.inWords)"
        case .heldBySystem(let took): "the system holds the key, found in \(took.inWords)"
        case .failed(let error, _) where error.isRepeated: "refused again, and not asked for: \(error)"
        case .failed(let error, let took): "failed in \(took.inWords) (\(error.stage?.rawValue ?? "start")): \(error)"
        case .ended(let error): "the key ended: \(error)"
        case .released: "released"
        case .session(let state): "session \(state)"
        case .sessionFailed(let error): "the session failed: \(error)"
        case .stageEnded, .certificateFromCache, .prepared, .preloaded, .tokenAdvice, .certificateUnrecognized:
            wordsOfPreparation
        case .exchanged, .unanswered, .redirected, .retrying, .replyWarning: wordsOfNetwork
        case .renewalPlanned, .renewalDue, .renewalFailed, .evicted: wordsOfRenewal
        case .answeredFromStore, .keyStored, .storedKeyDropped, .storedKeyExpired, .storeFailed: wordsOfStore
        }
    }

    private var wordsOfPreparation: String {
        switch self {
        case .stageEnded(let stage, let took): "\(stage) took \(took.inWords)"
        case .certificateFromCache(let saved): "certificate at hand, which saved \(saved.inWords)"
        case .prepared(let part, let saved): "\(part) at hand, which saved \(saved.inWords)"
        case .preloaded(let parts): "preloaded \(parts.map(\.rawValue).joined(separator: ", "))"
        case .tokenAdvice(let advice): advice.map(\.description).joined(separator: " ")
        case .certificateUnrecognized(let format): "the certificate is \(format), and is passed on as it is"
        default: ""
        }
    }

    private var wordsOfNetwork: String {
        switch self {
        case .exchanged(let http):
            "\(http.method) \(http.url) gave \(http.status.map { "\($0)" } ?? "nothing") in \(http.took)"
        case .replyWarning(let warning): warning.text
        case .unanswered(let http, let code): "\(http.method) \(http.url) got no reply in \(http.took): \(code)"
        case .redirected(let url, let isDropped): "redirected to \(url)\(isDropped ? ", without credentials" : "")"
        case .retrying(let attempt, let wait, let code):
            "attempt \(attempt) failed (\(code)), the next follows in \(wait.inWords)"
        default: ""
        }
    }

    private var wordsOfRenewal: String {
        switch self {
        case .renewalPlanned(let wait, let lease):
            "renewal planned in \(wait.inWords)\(lease.map { " of a lease of \($0.inWords)" } ?? "")"
        case .renewalDue: "the player is asked to renew"
        case .evicted: "newer keys took its place, and it is renewed no more"
        case .renewalFailed(let code, let next):
            "the renewal failed (\(code)), \(next.map { "the next follows in \($0.inWords)" } ?? "and none follows")"
        default: ""
        }
    }

    private var wordsOfStore: String {
        switch self {
        case .answeredFromStore: "answered from the store"
        case .keyStored: "stored"
        case .storedKeyDropped: "the player rejected the stored key, which was removed"
        case .storedKeyExpired: "a window of the stored key ended"
        case .storeFailed(let error): "the store failed: \(error)"
        default: ""
        }
    }
}

extension KeyEvent.HTTPSummary {
    fileprivate var took: String { milliseconds.isFinite ? "\((milliseconds * 10).rounded() / 10) ms" : "no time" }
}
