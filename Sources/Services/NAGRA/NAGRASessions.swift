import LatchkeyCore
import LatchkeyServer

/// The secure sessions that are open.
///
/// A session that is silent for three heartbeats is closed, so that a player that vanished frees its place; the number is
/// ours.
final class NAGRASessions: Sendable {
    /// What a session was opened for.
    struct Session: Sendable {
        let content: NAGRAContentToken
        var number: Int
        var lastHeard: Duration
    }

    /// How a session token stands to the session.
    enum Standing: Sendable {
        /// The latest token.
        case latest
        /// The one before: the reply with the latest may have been lost.
        case previous
    }

    private let sessions = Locked<[String: Session]>([:])
    private let time: any Timekeeper
    private let silence: Duration

    init(time: any Timekeeper, heartbeat: Duration) {
        self.time = time
        silence = heartbeat * 3
    }

    /// How many are open.
    var count: Int { sessions.withLock { $0.count } }

    /// Opens a session.
    /// - Returns: its token; nil where the account has as many as it may.
    func open(_ content: NAGRAContentToken, limit: Int?) -> String? {
        let now = time.uptime
        return sessions.withLock { sessions in
            sessions = sessions.filter { now - $0.value.lastHeard < silence }
            let others = sessions.values.count { $0.content.account == content.account }
            guard limit.map({ others < $0 }) ?? true else { return nil }
            let id = String(UInt64.random(in: .min ... .max), radix: 16)
            sessions[id] = Session(content: content, number: 1, lastHeard: now)
            return Self.token(id, 1)
        }
    }

    /// The session of a token, which counts as heard.
    /// - Returns: nil for a token of no open session, and for one older than the one before.
    func session(_ token: String) -> (content: NAGRAContentToken, standing: Standing)? {
        guard let (id, number) = Self.parts(token) else { return nil }
        let now = time.uptime
        return sessions.withLock { sessions in
            guard var session = sessions[id], now - session.lastHeard < silence,
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

    /// A JWT in form only: what counts is that the session is known.
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
