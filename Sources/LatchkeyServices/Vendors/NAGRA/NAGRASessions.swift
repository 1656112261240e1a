import LatchkeyCore
import LatchkeyForms
import LatchkeyVendorWire

/// The open secure sessions, at most 1,000.
///
/// A session without a sign of life for three heartbeats is closed, so that a player that vanished frees its place. Both numbers are our
/// choice.
final class NAGRASessions: Sendable {
    /// A session and the content token with which it was opened.
    struct Session: Sendable {
        let content: NAGRAContentToken
        var number: Int
        /// How long the session lasts without a sign of life.
        let silence: Duration
        var lastHeard: Duration
        var end: Duration { lastHeard + silence }
    }

    /// Whether a session token is current.
    enum Standing: Sendable {
        /// The latest token.
        case latest
        /// The token before the latest: the reply with the latest may have been lost.
        case previous
    }

    private let sessions = Locked<[String: Session]>([:])
    private let time: any Timekeeper

    init(_ time: any Timekeeper) { self.time = time }

    /// The number of open sessions.
    var count: Int { sessions.withLock { $0.count } }

    /// Opens a session.
    /// - Parameters:
    ///   - content: the session's content.
    ///   - limit: the number of concurrent sessions that the account may have; `nil` for any number.
    ///   - heartbeat: the longest time between the session's heartbeats.
    /// - Returns: its token; `nil` if the account has reached its limit.
    func open(_ content: NAGRAContentToken, limit: Int?, heartbeat: Duration) -> String? {
        let now = time.uptime
        return sessions.withLock { sessions in
            sessions = sessions.filter { now < $0.value.end }
            let others = sessions.values.count { $0.content.account == content.account }
            guard limit.map({ others < $0 }) ?? true, sessions.count < 1_000 else { return nil }
            let id = String(UInt64.random(in: .min ... .max), radix: 16)
            sessions[id] = Session(content: content, number: 1, silence: heartbeat * 3, lastHeard: now)
            return Self.token(id, 1)
        }
    }

    /// The session of a token. Counts as a sign of life.
    /// - Returns: `nil` for a token without an open session, and for one older than the previous one.
    func session(_ token: String) -> (content: NAGRAContentToken, standing: Standing)? {
        guard let (id, number) = Self.parts(token) else { return nil }
        let now = time.uptime
        return sessions.withLock { sessions in
            guard var session = sessions[id], now < session.end,
                number == session.number || number == session.number - 1
            else { return nil }
            session.lastHeard = now
            sessions[id] = session
            return (session.content, number == session.number ? .latest : .previous)
        }
    }

    /// The next token of an open session.
    func next(after token: String) -> String? {
        guard let (id, _) = Self.parts(token) else { return nil }
        return sessions.withLock { sessions in
            sessions[id]?.number += 1
            return (sessions[id]?.number).map { Self.token(id, $0) }
        }
    }

    /// Closes a session.
    func close(_ token: String) {
        guard let (id, _) = Self.parts(token) else { return }
        sessions.withLock { $0[id] = nil }
    }

    /// A token in the form of a JWT. Its signature is never checked, because the session has to be known.
    private static func token(_ id: String, _ number: Int) -> String {
        JSONWebToken.text(
            claims: .object(["typ": .text("Session"), "sid": .text(id), "num": .number(Double(number))]), key: nil)
    }

    private static func parts(_ token: String) -> (id: String, number: Int)? {
        guard let claims = JSONWebToken(token)?.claims, claims["typ"]?.text == "Session",
            let id = claims["sid"]?.text, let number = claims["num"]?.number.flatMap({ Int(exactly: $0) })
        else { return nil }
        return (id, number)
    }
}
