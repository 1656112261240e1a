import Foundation
import LatchkeyCore
package import LatchkeyDecision
package import LatchkeyFairPlay
package import LatchkeyLicensees
package import LatchkeyPackaging
package import LatchkeyVault

/// One customer of a license server, with everything that its requests need.
///
/// Immutable: a new configuration makes a new one, and requests that run keep theirs.
package final class Tenant: Sendable {
    package let name: String
    package let settings: TenantSettings
    /// The KSM with its own credentials; `nil` where it has the server's.
    package let module: KeyServerModule?
    /// Its licensee's module, which makes its CKCs; `nil` where a KSM does, or where it has the server's.
    package let licenseeModule: LicenseeModule?
    /// How much of its limits it uses.
    package let usage: TenantUsage
    /// The content keys.
    package let vault: TenantVault
    /// The operator's own service; `nil` without one.
    package let callout: EntitlementCallout<Grant>?
    let speke: SPEKEExchange
    let commonEncryption: CommonEncryptionExchange
    /// Keys in and out as CPIX.
    package let cpix: CPIXExchange
    private let verifier: TokenVerifier
    package let tokenKeys: KeySetSource?

    /// - Parameters:
    ///   - name: its name, as in addresses.
    ///   - settings: its configuration.
    ///   - vault: its content keys.
    ///   - tokenKeys: the keys that sign its tokens; `nil` accepts no token.
    ///   - signers: the signers of its common-encryption requests, by name.
    ///   - recipients: whom imported keys may be encrypted to. Defaults to nobody.
    ///   - callout: the operator's own service. Defaults to none.
    ///   - module: the KSM with its own credentials. Defaults to the server's.
    ///   - licenseeModule: its licensee's module. Defaults to none.
    ///   - usage: how much of its limits it uses, which outlives a configuration. Defaults to nothing so far.
    package init(
        _ name: String, _ settings: TenantSettings, vault: TenantVault, tokenKeys: KeySetSource?,
        signers: [String: CommonEncryptionSigner] = [:], recipients: [CPIXRecipient] = [],
        callout: EntitlementCallout<Grant>? = nil, module: KeyServerModule? = nil,
        licenseeModule: LicenseeModule? = nil, usage: TenantUsage = TenantUsage()
    ) {
        self.name = name
        (self.module, self.licenseeModule, self.usage) = (module, licenseeModule, usage)
        self.settings = settings
        self.vault = vault
        self.tokenKeys = tokenKeys
        self.callout = callout
        verifier = TokenVerifier(settings.tokens.rules)
        let signaling = SignalingSettings(
            fairPlay: settings.keyURI, clearKey: settings.clearKeyURI, widevineProvider: settings.widevineProvider,
            playReadyURL: settings.playReadyURL)
        speke = SPEKEExchange(
            source: vault, settings: signaling,
            rules: SPEKEExchange.Rules(
                certificates: Set(settings.recipients.compactMap { Data(hexString: $0).map { [UInt8]($0) } }),
                allowsPlainKeys: settings.allowsPlainKeys))
        cpix = CPIXExchange(
            vault: vault, signaling: signaling, allowsPlainKeys: settings.allowsPlainKeys,
            registered: Set(settings.recipients.compactMap { Data(hexString: $0).map { [UInt8]($0) } }),
            recipients: recipients, keyURI: settings.keyURI)
        commonEncryption = CommonEncryptionExchange(
            tenant: name, source: vault, signers: signers, widevineProvider: settings.widevineProvider)
    }

    /// The state of the keys that sign its tokens; `nil` for a tenant that accepts no token.
    package var tokenKeyStanding: KeySetSource.Standing? { tokenKeys?.standing }

    /// Loads the keys that sign its tokens, if they were never loaded. ``tokenKeyStanding`` has the outcome.
    package func loadTokenKeys() async {
        guard let tokenKeys, tokenKeys.standing == KeySetSource.Standing() else { return }
        // Its failure is in the standing.
        try? await tokenKeys.reload()
    }

    /// Verifies a viewer's token.
    /// - Parameters:
    ///   - token: the token's text; `nil` if the request has none.
    ///   - date: now.
    /// - Returns: the grant; `nil` where the keys have to be fetched first, by `grantAfterFetch`.
    /// - Throws: `UngrantedToken`.
    func grant(_ token: String?, at date: Date) throws(UngrantedToken) -> Grant? {
        guard let token, !token.isEmpty else {
            throw UngrantedToken(refusal: LicenseRefusal(.tokenMissing, reason: "The request has no token."))
        }
        guard let tokenKeys else { throw UngrantedToken(refusal: .tokenRefused) }
        do { return try tokenKeys.verifiedAtOnce(token, by: verifier, at: date).map { try Grant($0) } } catch {
            throw UngrantedToken(error)
        }
    }

    /// Fetches the keys that sign tokens, and verifies one.
    /// - Throws: `UngrantedToken`.
    func grantAfterFetch(_ token: String?, at date: Date) async throws(UngrantedToken) -> Grant {
        guard let token, let tokenKeys else { throw UngrantedToken(refusal: .tokenRefused) }
        do { return try Grant(try await tokenKeys.verifiedAfterFetch(token, by: verifier, at: date)) } catch {
            throw UngrantedToken(error)
        }
    }

    /// Takes over the state of the former configuration's tenant: open keys, key sets, answers of the operator's service. A reload while
    /// one of them does not answer loses nothing.
    package func takeOver(_ former: Tenant) {
        vault.takeOver(former.vault)
        if let tokenKeys, let known = former.tokenKeys, settings.tokens.keys == former.settings.tokens.keys {
            tokenKeys.takeOver(known)
        }
        if let callout, let known = former.callout, settings.callout?.url == former.settings.callout?.url {
            callout.takeOver(known)
        }
    }

    /// A content key that is in memory; `nil` for one that has to be read.
    /// - Throws: as `key(_:content:)`.
    func knownKey(_ kid: KeyID, content: ContentName?) throws(LicenseRefusal) -> VaultKey? {
        do throws(VaultError) { return try vault.knownKey(kid, content: content) } catch { throw LicenseRefusal(error) }
    }

    /// A content key.
    /// - Throws: `unknownKey`, `.policy(.blocked)` for a disabled one, `.policy(.storeUnavailable)`.
    func key(_ kid: KeyID, content: ContentName?) async throws(LicenseRefusal) -> VaultKey {
        do throws(VaultError) {
            return try await vault.key(kid, content: content)
        } catch {
            throw LicenseRefusal(error)
        }
    }
}

/// Why a token gives no grant.
struct UngrantedToken: Error {
    /// Vague enough to show to a stranger.
    let refusal: LicenseRefusal
    /// The cause for the log; `nil` if there is nothing to add.
    var cause: TokenError?
}

extension UngrantedToken {
    fileprivate init(_ error: any Error) {
        switch error {
        case let error as TokenError: self.init(refusal: error.refusal, cause: error)
        case let error as LicenseRefusal: self.init(refusal: error)
        default: self.init(refusal: .tokenRefused)
        }
    }
}

extension LicenseRefusal {
    /// Why a vault gives no key, as far as a player may know it.
    init(_ error: VaultError) {
        switch error {
        case .unknown(let kid): self = .unknownKey("\(kid)")
        case .severalKeys(let content): self = .ambiguousKey("\(content)")
        case .disabled: self.init(.policy(.blocked), reason: "The key is disabled.")
        // It stays so until the key is replaced, so players are not asked to try again.
        case .ivMissing: self.init(.vendor(code: error.code, status: 409), reason: error.reason, remedy: error.remedy)
        default: self.init(.policy(.storeUnavailable), reason: "The key cannot be looked up now.")
        }
    }
}
