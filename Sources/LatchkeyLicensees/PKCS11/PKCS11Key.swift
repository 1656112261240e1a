internal import CPKCS11
package import LatchkeyCore
import LatchkeyFairPlay

/// An RSA private key that stays in a token.
///
/// Each decrypting thread has its own session; idle sessions are kept. A session that the token lost is opened again, once per decryption.
///
/// Source: `Documentation/LicenseServer.md` §8.3.
package final class PKCS11Key: ApplicationKey {
    /// The address of the key.
    package let address: PKCS11Address

    private let token: PKCS11Token
    private let idle = Locked(Idle())

    /// A session, and the key's number in it.
    private struct Lane: Sendable {
        let session: PKCS11Session
        let key: CK_ULONG
        let generation: Int
    }

    /// The idle lanes. Lanes of an older generation were opened before the token lost a session.
    private struct Idle {
        var generation = 0
        var lanes: [Lane] = []
    }

    /// The size of the largest RSA modulus in use anywhere, in bytes.
    private static let room = 1_024

    /// Logs in and finds the key. Blocks.
    /// - Parameters:
    ///   - address: the address of the key.
    ///   - pin: the user's PIN. It is tried once.
    /// - Throws: every `pkcs11…` except `pkcs11AddressInvalid`.
    package init(_ address: PKCS11Address, pin: Secret) throws(LicenseeError) {
        self.address = address
        token = try PKCS11Token(address, pin: pin)
        try token.checkMechanism()
        let lane = try lane()
        giveBack(lane)
        guard lane.session.flag(CKA_SENSITIVE, of: lane.key) == true,
            lane.session.flag(CKA_EXTRACTABLE, of: lane.key) == false
        else {
            throw LicenseeError(
                .objectUnsafe, "The \(address) can leave the token: it is not CKA_SENSITIVE, or CKA_EXTRACTABLE.",
                remedy: "Import or create it again as sensitive and not extractable.")
        }
        guard lane.session.flag(CKA_DECRYPT, of: lane.key) == true else {
            throw LicenseeError(
                .objectUnsafe, "The \(address) may not decrypt: it is not CKA_DECRYPT.",
                remedy: "Import or create it again with permission to decrypt.")
        }
    }

    deinit { idle.withLock { $0.lanes.forEach { $0.session.close() } } }

    package func decryptOAEP(_ wrapped: ArraySlice<UInt8>) throws(LicenseeError) -> Secret? {
        if let lane = idle.withLock({ $0.lanes.popLast() }) {
            switch decrypt(wrapped, lane) {
            case .opened(let secret): return secret
            case .refused: return nil
            case .unavailable(let error): throw error
            case .lost, .stale: break
            }
        }
        switch decrypt(wrapped, try lane()) {
        case .opened(let secret): return secret
        case .refused: return nil
        case .unavailable(let error), .lost(let error), .stale(let error): throw error
        }
    }

    /// Decrypts, and keeps the lane or ends it.
    private func decrypt(_ wrapped: ArraySlice<UInt8>, _ lane: Lane) -> PKCS11Session.Outcome {
        let outcome = lane.session.decryptOAEP(wrapped, key: lane.key, count: Self.room)
        switch outcome {
        case .opened, .refused: giveBack(lane)
        case .stale, .unavailable: lane.session.close()
        case .lost: discard(lane.generation)
        }
        return outcome
    }

    private func lane() throws(LicenseeError) -> Lane {
        let generation = idle.withLock { $0.generation }
        let session = try token.session()
        do throws(LicenseeError) {
            return Lane(session: session, key: try session.privateKey(address), generation: generation)
        } catch {
            session.close()
            throw error
        }
    }

    private func giveBack(_ lane: Lane) {
        let isKept = idle.withLock { idle in
            guard idle.generation == lane.generation else { return false }
            idle.lanes.append(lane)
            return true
        }
        if !isKept { lane.session.close() }
    }

    /// Forgets the idle lanes of a generation, without closing them: a lost session's number may belong to a new one.
    private func discard(_ generation: Int) {
        idle.withLock { idle in
            guard idle.generation == generation else { return }
            idle = Idle(generation: generation + 1)
        }
    }
}

extension PKCS11Key {
    /// Makes the token end all sessions of this process, as when it is restarted. For tests.
    func loseSessions() throws(LicenseeError) {
        let slot = try token.module.slot(of: address).slot
        let result = token.module.call(\.C_CloseAllSessions) { $0(slot) }
        guard result == CKR_OK else { throw .failed("C_CloseAllSessions", result) }
    }

    /// Whether the token reports a wrong PIN since the last right one. For tests.
    func sawWrongPIN() throws(LicenseeError) -> Bool {
        try token.module.slot(of: address).token.flags & CKF_USER_PIN_COUNT_LOW != 0
    }
}
