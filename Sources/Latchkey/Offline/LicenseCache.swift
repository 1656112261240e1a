import Foundation
public import LatchkeyCore
@_spi(Integrations) import LatchkeyVendors

/// The keys of streaming licenses that are kept for replays: `loader.licenseCache`.
///
/// A CKC answers one SPC, so the cache keeps the key that the system makes of it for storage, as for a download. A replay within the lease
/// is answered with it, for the rest of the lease: if it plays longer, the key is renewed by a license as usual. Refusals and rejections
/// remove the kept key. Call `removeAll()` when the viewer signs out. Safe to use from any thread.
public final class LicenseCache: Sendable {
    private let policy: LicenseCachePolicy
    private let lifetime: Duration
    /// The least time that a lease must have left: a shorter one would be renewed immediately.
    private let shortest: Duration
    private let stored: OfflineKeys
    /// Whether the player makes stored keys of the licenses.
    private let isFit = Locked(true)

    /// - Returns: `nil` without a policy, and if the vendor does not allow it.
    init?(for caller: ServiceCaller, report: @escaping OfflineKeys.Report) {
        let vendor = caller.integration.renewal
        guard let policy = caller.configuration.licenseCache, let allowed = vendor.cacheLifetime else { return nil }
        self.policy = policy
        lifetime = min(policy.lifetime ?? .seconds(allowed), .seconds(allowed))
        shortest = .seconds(vendor.minimumLead)
        stored = OfflineKeys(policy.store, for: caller) { key, asset, event in
            // A download's keys expire for its viewer; these are simply requested again.
            if case .storedKeyExpired = event { return }
            report(key, asset, event)
        }
    }

    /// Removes the keys of a title.
    public func remove(_ asset: AssetID) async throws(OfflineError) { try await stored.delete(asset) }

    /// Removes all keys, as when a viewer signs out. Works even if the store cannot be read.
    public func removeAll() async throws(OfflineError) { try await stored.deleteAll() }

    func close() { stored.close() }
}

// MARK: - For player adapters

@_spi(Adapters) extension LicenseCache {
    /// Whether a streaming request should become a persistable one, of the purpose `streaming`, so that its key can be kept.
    public func wants(_ key: KeyURI, of asset: AssetID?) -> Bool {
        isFit.withLock { $0 } && policy.includes(key, asset)
    }

    /// The player changed a kept key; see `OfflineKeys.updated(_:to:)`.
    public func updated(_ key: KeyURI, to bytes: Secret) { stored.updated(key, to: bytes) }

    /// Removes a key that the player turned down; returns immediately, and later requests see it.
    public func drop(_ key: KeyURI) { stored.drop(key) }
}

// MARK: - The answer to a player's request

extension LicenseCache {
    /// The kept key with the rest of its lease, or else a new license's.
    /// - Parameter fetch: makes the license exchange; gives `nil` if the system holds the key, which is then not kept.
    func license(
        for request: any PersistableKeyRequest, _ report: Trace.Sink, fetch: @Sendable () async throws -> License?
    ) async throws -> License? {
        if let kept = await kept(request.keyURI, report) { return kept }
        guard let license = try await fetched(request, fetch) else { return nil }
        let key: Secret
        do { key = try request.storedForm(of: license) } catch {
            // The service's licenses differ from its documentation: from now on they are streamed.
            isFit.withLock { $0 = false }
            throw error
        }
        let lease = min(lifetime, license.terms?.shortestLife ?? lifetime)
        do throws(OfflineError) {
            let title = request.asset ?? AssetID(request.keyURI.raw)
            try await stored.keep(key, for: request.keyURI, of: title, lease, room: policy.keys)
            report(.keyStored)
        } catch {
            report(.storeFailed(error))
        }
        return License(ckc: key, terms: LicenseTerms(.lease(lease)))
    }

    private func kept(_ key: KeyURI, _ report: Trace.Sink) async -> License? {
        do throws(OfflineError) {
            guard let (bytes, left) = try await stored.kept(key, atLeast: shortest) else { return nil }
            report(.answeredFromStore)
            return License(ckc: bytes, terms: LicenseTerms(.lease(left)))
        } catch {
            report(.storeFailed(error))
            return nil
        }
    }

    private func fetched(
        _ request: any PersistableKeyRequest, _ fetch: @Sendable () async throws -> License?
    ) async throws -> License? {
        do { return try await fetch() } catch {
            if (error as? ContentKeyError)?.isFinalRefusal == true, let asset = request.asset {
                _ = try? await stored.delete(asset)
            }
            throw error
        }
    }
}

extension LicenseTerms {
    /// The earliest end that the license states.
    fileprivate var shortestLife: Duration? {
        switch validity {
        case .lease(let lease): lease
        case .rental(let rental): rental
        case .leaseAndRental(let lease, let rental): min(lease, rental)
        case .persistentFor(let limit): limit
        case .dualExpiry(let storage, let playback): min(storage, playback)
        case .unlimited, .persistent: nil
        }
    }
}
