import Foundation
import LatchkeyCore
package import LatchkeyDecision
public import LatchkeyFairPlay
public import LatchkeyHTTP
package import LatchkeyMedia
package import LatchkeyVendorWire

/// Decides about licenses and makes them, with a KSM, keys and a policy.
///
/// All vendors' services use it. Safe to use from any number of tasks; the RSA work runs on the pool's threads.
public struct LicenseAuthority: Sendable {
    /// The KSM.
    public let module: KeyServerModule
    /// The content keys.
    public let keys: ContentKeyStore
    /// The terms if the credentials grant none.
    public let policy: LicensePolicy

    private let pool: WorkerPool
    private let randomness: @Sendable () -> any RandomNumberGenerator

    /// - Parameters:
    ///   - module: the KSM with its credentials and derivation.
    ///   - keys: the content keys.
    ///   - policy: the terms if the credentials grant none.
    ///   - pool: the threads that do the RSA work.
    ///   - randomness: makes the generator for one CKC. Defaults to one of libcrypto's for all.
    public init(
        module: KeyServerModule, keys: ContentKeyStore, policy: LicensePolicy = LicensePolicy(),
        pool: WorkerPool = WorkerPool(),
        randomness: (@Sendable () -> any RandomNumberGenerator)? = nil
    ) {
        self.module = module
        self.keys = keys
        self.policy = policy
        self.pool = pool
        let shared = SharedGenerator()
        self.randomness = randomness ?? { shared }
    }

    /// The application certificate for clients: the first credential's; `nil` without credentials.
    public var certificate: FairPlayCertificate? { module.credentials.first?.certificate }

    /// Grants or refuses a license.
    ///
    /// Looks up the key that the request names before it opens the SPC, so that a wrong request costs no RSA.
    package func license(for question: LicenseQuestion) async -> Result<IssuedLicense, LicenseRefusal> {
        await pool.run { decide(question) } ?? .failure(.overloaded)
    }

    private func decide(_ question: LicenseQuestion) -> Result<IssuedLicense, LicenseRefusal> {
        do throws(LicenseRefusal) {
            return .success(try grant(question))
        } catch {
            return .failure(error)
        }
    }

    private func grant(_ question: LicenseQuestion) throws(LicenseRefusal) -> IssuedLicense {
        guard !question.spc.isEmpty else { throw .emptySPC }
        let requested: StoredKey? = if let name = question.key.name { try key(named: name) } else { nil }
        let context = try opened(question.spc)
        let chosen = try key(requested, agreeingWith: context.assetID, of: question)
        let asked = vendorKey(chosen)
        if let objection = question.objection(asked, context.assetID) { throw objection }
        var grant = question.grant
        try question.narrow(&grant, asked.facts, context.assetID)
        let terms = grant.terms ?? policy.terms(for: chosen.id)
        let ckc = try answer(context, chosen.content, terms)
        return IssuedLicense(
            ckc: ckc, key: chosen, terms: terms, deviceIdentifier: context.deviceIdentifier, playback: context.playback)
    }

    private func opened(_ spc: Data) throws(LicenseRefusal) -> ServerPlaybackContext {
        do { return try module.open(spc) } catch { throw LicenseRefusal(error) }
    }

    private func answer(
        _ context: ServerPlaybackContext, _ key: ContentKey, _ terms: LicenseTerms
    ) throws(LicenseRefusal) -> Secret {
        var generator = randomness()
        do {
            return Secret(try module.contentKeyContext(for: context, key: key, terms: terms, using: &generator))
        } catch {
            throw LicenseRefusal(error)
        }
    }

    /// The key that both request and SPC name.
    private func key(
        _ requested: StoredKey?, agreeingWith asset: ContentIdentifier, of question: LicenseQuestion
    ) throws(LicenseRefusal) -> StoredKey {
        let nameInSPC: String? = if let rule = question.key.nameInSPC { rule(asset) } else { keys.name(in: asset) }
        guard let requested else { return try key(named: nameInSPC ?? asset.description) }
        guard let name = nameInSPC else { return requested }
        guard case .one(let sealed) = keys.key(named: name), sealed.isSameKey(as: requested) else {
            throw .contentMismatch(question.key.name ?? "", asset.description)
        }
        return requested
    }

    /// The key's content is unknown.
    private func vendorKey(_ key: StoredKey) -> VendorKey {
        var facts = KeyFacts()
        facts.id = key.id
        return VendorKey(key.content, facts) { [keys] name in
            if case .one(let named) = keys.key(named: name) { named.id == key.id } else { false }
        }
    }

    private func key(named name: String) throws(LicenseRefusal) -> StoredKey {
        switch keys.key(named: name) {
        case .one(let key): return key
        case .several: throw .ambiguousKey(name)
        case .none: throw .unknownKey(name)
        }
    }
}

/// A granted license.
package struct IssuedLicense: Sendable {
    /// The CKC, which answers the question's SPC and no other.
    package let ckc: Secret
    /// The key in the CKC.
    package let key: StoredKey
    /// The terms in the CKC.
    package let terms: LicenseTerms
    /// The device's identifier (HU), 20 bytes, by which services bind licenses to devices.
    package let deviceIdentifier: Secret
    /// The state of playback as the device reports it; `nil` if it reports none.
    package let playback: MediaPlayback?
}
