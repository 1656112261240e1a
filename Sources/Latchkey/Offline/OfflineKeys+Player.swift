public import Foundation
public import LatchkeyCore
@_spi(Integrations) public import LatchkeyVendors

/// A player adapter's questions and reports.
extension OfflineKeys {
    /// The asset that needs the key, so that the player's request should be made persistable; of several, the one whose name sorts
    /// first. `nil` if none does, or if the store cannot be read: the key then plays online.
    ///
    /// A key is known by its URI, or by one that differs in a session's query items only; see `OfflinePolicy`.
    @_spi(Adapters) public func asset(needing key: KeyURI) async -> AssetID? {
        do throws(OfflineError) {
            return try await change { $0.index.asset(needing: $0.index.known(key, by: self.names)) }
        } catch {
            report(key, nil, .storeFailed(error))
            return nil
        }
    }

    /// The stored key, unchanged, for the player; `nil` if there is none or its window has ended.
    @_spi(Adapters) public func storedKey(for key: KeyURI) async throws(OfflineError) -> Secret? {
        try await change { draft throws(OfflineError) in
            let key = draft.index.known(key, by: self.names)
            guard let found = draft.index.keys[key], !found.isExpired(at: draft.now) else { return nil }
            let bytes = try await self.keyIndex.bytes(of: found.item)
            // The file was removed from outside: the key is not stored.
            if bytes == nil { draft.index.keys[key] = nil }
            return bytes
        }
    }

    /// The player changed a stored key, as at its first play if its license states a playback window. Only the new bytes are valid from now
    /// on. Call it from the player's callback; it returns immediately, and later calls see the change.
    @_spi(Adapters) public func updated(_ key: KeyURI, to bytes: Secret) {
        changeLater(key) { draft throws(OfflineError) in
            let key = draft.index.known(key, by: self.names)
            guard draft.index.isWanted(key) else { return }
            try self.checkSize(of: bytes)
            let item = draft.add(bytes, using: self.generator())
            var stored = draft.index.keys[key] ?? .init(uri: key, item: item, stored: draft.now)
            stored.item = item
            stored.firstPlayed = stored.firstPlayed ?? draft.now
            draft.index.keys[key] = stored
            self.forgetRejections(of: [key])
        }
    }

    /// The player started to play with a stored key. The first time counts, and begins the playback window; returns immediately.
    @_spi(Adapters) public func started(_ key: KeyURI) {
        changeLater(key) { draft in
            let key = draft.index.known(key, by: self.names)
            guard let stored = draft.index.keys[key] else { return }
            // Read before the write begins: Apple's `Date` is resilient, and the accesses would overlap.
            let firstPlayed = stored.firstPlayed ?? draft.now
            draft.index.keys[key]?.firstPlayed = firstPlayed
            self.forgetRejections(of: [key])
        }
    }

    /// The service said until when a stored key is good, as it answers a secure token: the current window ends then. A key that is not
    /// stored is not an error; returns immediately.
    ///
    /// Source: `Documentation/Players.md` §3.9 f, `makeSecureTokenForExpirationDate(ofPersistableContentKey:)`, which takes `storedKey(for:)`.
    public func setExpiry(_ date: Date, of key: KeyURI) {
        changeLater(key) { draft in
            let key = draft.index.known(key, by: self.names)
            guard var stored = draft.index.keys[key] else { return }
            stored.expire(at: date)
            draft.index.keys[key] = stored
        }
    }

    /// The player rejected a key: a stored one is removed.
    /// - Returns: `fetchAgain` for a stored key, once; `giveUp` if the key that was fetched again is rejected too.
    @_spi(Adapters) public func rejected(_ key: KeyURI) async throws(OfflineError) -> RejectionAdvice {
        let (dropped, asset) = try await change { draft in
            let key = draft.index.known(key, by: self.names)
            return (draft.index.keys.removeValue(forKey: key), draft.index.asset(needing: key))
        }
        guard dropped != nil else { return .giveUp }
        report(key, asset, .storedKeyDropped)
        return noteRejection(of: key) ? .fetchAgain : .giveUp
    }
}

/// The answer to a player's request.
extension OfflineKeys {
    /// The answer to a persistable key request: the stored key, without a network, or else a license that is fetched, made into a stored
    /// key by the player, and stored.
    ///
    /// If the key cannot be stored, the request is answered anyway, because the player can play with the key. The event `storeFailed`
    /// says why, and the asset is not ready.
    /// - Parameters:
    ///   - request: the player's request.
    ///   - fetch: makes the license exchange.
    /// - Throws: the error of `fetch`; `persistableKeyFailed` if the player makes no stored key of the license;
    ///   `storedKeyRenewalUnsupported` if a stored key should be replaced and the vendor renews none.
    @_spi(Adapters) public func key(
        for request: any PersistableKeyRequest, fetch: @Sendable () async throws -> License
    ) async throws -> Secret {
        let report: Trace.Sink = { self.report(request.keyURI, request.asset, $0) }
        guard let key = try await self.key(for: request, report, fetch: { try await fetch() }) else {
            throw ContentKeyError.noSPC
        }
        return key
    }

    /// - Parameter fetch: makes the license exchange; gives `nil` if the system holds the key, which is then not stored.
    func key(
        for request: any PersistableKeyRequest, _ report: Trace.Sink,
        fetch: @Sendable () async throws -> License?
    ) async throws -> Secret? {
        if let stored = try await answer(to: request, report) { return stored }
        guard let license = try await fetch() else { return nil }
        let key = try request.storedForm(of: license)
        do throws(OfflineError) {
            try await store(key, for: request.keyURI, license.terms)
            report(.keyStored)
        } catch {
            report(.storeFailed(error))
        }
        return key
    }

    /// The stored key, if it answers the request. If the store cannot be read, the key comes over the network.
    private func answer(
        to request: any PersistableKeyRequest, _ report: Trace.Sink
    ) async throws -> Secret? {
        let found: Secret?
        do throws(OfflineError) {
            found = try await storedKey(for: request.keyURI)
        } catch {
            report(.storeFailed(error))
            return nil
        }
        guard let found else { return nil }
        guard request.storedKey == .reuse else {
            guard renews else { throw ContentKeyError(Self.renewalUnsupported, stage: .license) }
            return nil
        }
        report(.answeredFromStore)
        return found
    }

    private func store(_ bytes: Secret, for key: KeyURI, _ terms: LicenseTerms?) async throws(OfflineError) {
        try checkSize(of: bytes)
        try await change { draft throws(OfflineError) in
            draft.index.rename(draft.index.known(key, by: self.names), to: key)
            guard draft.index.isWanted(key) else {
                throw OfflineError(.offlineKeyNotRequested, "No asset needs the key.")
            }
            draft.trust(self.timekeeper.date)
            let item = draft.add(bytes, using: self.generator())
            var stored = OfflineIndex.KeyRecord(uri: key, item: item, stored: draft.now)
            stored.setWindows(of: terms)
            if draft.index.keys[key] != nil { stored.renewed = draft.now }
            draft.index.keys[key] = stored
        }
    }

    func checkSize(of bytes: Secret) throws(OfflineError) {
        guard bytes.count > policy.largestKey else { return }
        throw OfflineError(
            .storedKeyTooLarge, "The stored key has \(bytes.count) bytes; at most \(policy.largestKey) are allowed.")
    }
}

@_spi(Adapters) extension PersistableKeyRequest {
    /// The player's stored form of a CKC; a CKC itself is not a valid answer (−42803).
    func storedForm(of license: License) throws -> Secret {
        let remedy = "Check that the license service lets this key be stored."
        let key: Data
        do { key = try persistableKey(from: license.ckc.revealed) } catch {
            throw ContentKeyError(
                .persistableKeyFailed, stage: .answer,
                "The player made no stored key of the license (\(type(of: error))).", remedy: remedy, underlying: error)
        }
        guard !key.isEmpty else {
            throw ContentKeyError(
                .persistableKeyFailed, stage: .answer, "The player made an empty stored key.", remedy: remedy)
        }
        return Secret(key)
    }
}
