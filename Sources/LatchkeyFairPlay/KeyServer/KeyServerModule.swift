import Foundation
package import LatchkeyCore

/// The key security module (KSM): opens SPCs and makes CKCs.
///
///     SPC ──locate──▶ SealedSPC ──payloadKey, context──▶ ServerPlaybackContext ──contentKeyContext──▶ CKC
///         steps 1–4              RSA, steps 5–11          (license decision)      step 13
///
/// Each stage returns a value or throws a `KSMRefusal`; there is no other state. The module is a pure function of the SPC,
/// credentials, content key, terms, derivation and randomness, so any number of threads can share one. The license decision is
/// its caller's, between opening and answering. The module must never reveal why RSA failed, put session bytes into an error
/// or a log, or answer an SPC whose integrity bytes differ.
///
/// `open(_:)` does an RSA operation and blocks for 0.1 to 0.3 ms; call it outside the cooperative pool.
///
/// Source: `Documentation/FairPlay.md` §8.
public struct KeyServerModule: Sendable {
    /// The credentials. The SPC's certificate hash selects one.
    public let credentials: [KeyServerCredential]

    let derivation: any ApplicationSecretDerivation
    let openers: [any SPCOpener]

    /// - Parameters:
    ///   - credentials: any number of credentials, of either key size.
    ///   - derivation: the licensee's derivation, or one for tests.
    ///   - openers: parsers for container versions 2 and 3. The first one that lists a version is used.
    public init(
        credentials: [KeyServerCredential], derivation: any ApplicationSecretDerivation,
        openers: [any SPCOpener] = []
    ) {
        self.credentials = credentials
        self.derivation = derivation
        self.openers = openers
    }

    /// Opens an SPC and checks everything that a CKC depends on: steps 1 to 11 of §8.
    /// - Parameter spc: the SPC's bytes, without any envelope.
    /// - Throws: any `KSMRefusal`.
    public func open(_ spc: some Collection<UInt8>) throws(KSMRefusal) -> ServerPlaybackContext {
        switch try begin([UInt8](spc)) {
        case .open(let context): return context
        case .sealed(let sealed): return try context(of: sealed, payloadKey: payloadKey(of: sealed))
        }
    }

    /// The state of an SPC before the RSA operation.
    enum Begun {
        /// Fully opened by a plugged-in opener.
        case open(ServerPlaybackContext)
        case sealed(SealedSPC)
    }

    func begin(_ spc: [UInt8]) throws(KSMRefusal) -> Begun {
        guard let opened = try openedByPlugin(spc) else { return .sealed(try locate(spc)) }
        let version = try SPCContainer.version(of: spc)
        return .open(
            try context(
                of: opened.payload, containerVersion: version, credentialIndex: opened.credentialIndex, Self.cipher()))
    }
}

/// An SPC with a parsed container and a known credential, before the RSA operation.
package struct SealedSPC: Sendable {
    package let container: SPCContainer
    package let credentialIndex: Int
}

// The steps are separate, so that a benchmark can measure everything except RSA.
extension KeyServerModule {
    /// Steps 1 to 4: parses the container and finds the credential.
    package func locate(_ spc: [UInt8]) throws(KSMRefusal) -> SealedSPC {
        let container = try SPCContainer(spc)
        let hash = spc[container.certificateHashRange]
        guard let index = credentialIndex(hash) else { throw .unknownCertificate(hash.hexString) }
        return SealedSPC(container: container, credentialIndex: index)
    }

    /// Step 5: the RSA operation.
    package func payloadKey(of sealed: SealedSPC) throws(KSMRefusal) -> Secret {
        let wrapped = sealed.container.bytes[sealed.container.wrappedKeyRange]
        let key: Secret?
        do { key = try credentials[sealed.credentialIndex].key.decryptOAEP(wrapped) } catch {
            throw .keyUnavailable(error)
        }
        return try Self.checked(key)
    }

    static func checked(_ payloadKey: Secret?) throws(KSMRefusal) -> Secret {
        guard let payloadKey, payloadKey.count == 16 else { throw .rsaDecryptFailed }
        return payloadKey
    }

    /// Steps 6 to 11: decrypts and checks the payload.
    package func context(of sealed: SealedSPC, payloadKey: Secret) throws(KSMRefusal) -> ServerPlaybackContext {
        let cipher = try Self.cipher()
        return try context(
            of: Self.payload(of: sealed, payloadKey, cipher), containerVersion: sealed.container.version,
            credentialIndex: sealed.credentialIndex, cipher)
    }

    static func payload(
        of sealed: SealedSPC, _ payloadKey: Secret, _ cipher: borrowing AESCBC
    ) throws(KSMRefusal) -> [UInt8] {
        let container = sealed.container
        var payload = Array(container.bytes[container.payloadRange])
        let iv = AESBlock(container.bytes[container.ivRange])
        do throws(OpenSSLError) {
            try payloadKey.withUnsafeBytes { key throws(OpenSSLError) in
                try cipher.apply(.decrypt, to: &payload, key: key, iv: iv)
            }
        } catch {
            throw .cipher(error)
        }
        return payload
    }

    static func cipher() throws(KSMRefusal) -> AESCBC {
        do throws(OpenSSLError) { return try AESCBC() } catch { throw .cipher(error) }
    }

    private func credentialIndex(_ hash: ArraySlice<UInt8>) -> Int? {
        credentials.firstIndex { $0.certificate.fingerprintBytes[...] == hash }
    }
}

// Containers whose layout is not public.
extension KeyServerModule {
    /// Opens an SPC with a plugged-in opener, or refuses its version; `nil` if the module opens it itself.
    func openedByPlugin(_ spc: [UInt8]) throws(KSMRefusal) -> OpenedSPC? {
        let version = try SPCContainer.version(of: spc)
        if version == 1 || version == 2 && isForTestCredential(spc) { return nil }
        guard let opener = openers.first(where: { $0.versions.contains(version) }) else {
            // A container of other test credentials: the certificate is the problem, not the version.
            if version == 2, let container = try? SPCContainer(spc) {
                throw .unknownCertificate(spc[container.certificateHashRange].hexString)
            }
            throw .unsupportedVersion(version, spc)
        }
        do {
            let opened = try opener.open(spc, credentials: credentials)
            guard credentials.indices.contains(opened.credentialIndex) else {
                throw KSMRefusal.unknownCertificate("that its opener did not name")
            }
            return opened
        } catch let refusal as KSMRefusal {
            throw refusal
        } catch {
            throw .malformedContainer("its opener reports \(type(of: error))")
        }
    }

    /// Whether a version 2 container belongs to this module's test credentials. If it is too short for a hash, whether no
    /// opener reads version 2 and the module has such credentials.
    private func isForTestCredential(_ spc: [UInt8]) -> Bool {
        guard let hash = SPCContainer.certificateHashOfVersion2(spc) else {
            return openers.allSatisfy { !$0.versions.contains(2) }
                && credentials.contains { $0.certificate.isTestCertificate && $0.certificate.rsaBits == 2048 }
        }
        return credentialIndex(hash).map { credentials[$0].certificate.isTestCertificate } ?? false
    }
}
