import LatchkeyCore
@_spi(Integrations) import LatchkeyVendors

/// The secure sessions of a loader: one for each player, so that a player that ends does not end another's session.
final class SecureSessions: Sendable {
    private let sessions = Locked<[PlayerID: SecureSession]>([:])
    private let requests: KeyRequests
    private let make: @Sendable (SecureSession.Players) -> SecureSession

    /// - Returns: `nil` for a vendor whose licenses need no session.
    init?(_ caller: ServiceCaller, _ requests: KeyRequests, trace: @escaping @Sendable () -> Trace) {
        guard caller.integration.sessionScope != .never else { return nil }
        self.requests = requests
        make = { SecureSession(caller, trace(), $0) }
        requests.whenSourceEnds { [weak self] player in self?[existing: player]?.sourceChanged() }
    }

    /// The session of a player; `nil` if it has requested no license.
    subscript(existing player: PlayerID) -> SecureSession? { sessions.withLock { $0[player] } }

    /// The session of a player, which is made for its first license.
    /// - Parameter number: the request that needs it; 0 for a license without a request.
    /// - Throws: `sessionEnded` if the request is no longer pending.
    func session(of player: PlayerID, for number: Int = 0) throws(ContentKeyError) -> SecureSession {
        guard requests.beginSource(of: player, for: number) else { throw .sessionEnded }
        return sessions.withLock { sessions in
            if let session = sessions[player] { return session }
            let session = make(players(player))
            if requests.isSuspended(player) { session.suspend() }
            sessions[player] = session
            return session
        }
    }

    /// Ends all sessions.
    func close() { for session in sessions.withLock({ Array($0.values) }) { session.sourceChanged() } }

    private func players(_ player: PlayerID) -> SecureSession.Players {
        SecureSession.Players(
            source: { [weak requests] in requests?.source(of: player) },
            renew: { [weak requests] in requests?.renewAll(player) ?? false },
            fail: { [weak requests] error in requests?.endKeys(player, error) },
            remove: { [weak self] session in self?.remove(session, of: player) ?? true })
    }

    /// Removes a session that has ended, unless a license has joined it meanwhile; the player's next license makes another.
    private func remove(_ session: SecureSession, of player: PlayerID) -> Bool {
        sessions.withLock {
            guard $0[player] === session else { return true }
            guard requests.source(of: player) ?? 0 == 0 else { return false }
            $0[player] = nil
            return true
        }
    }
}
