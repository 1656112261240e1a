import Foundation
import LatchkeyCore
import LatchkeyFairPlay
import Testing

/// The interface of a licensee's library; its names are made up.
protocol LicensedLibrary: Sendable {
    func derive(r2: Data, applicationSecret: Data) throws -> Data
}

struct LicensedDerivation: ApplicationSecretDerivation {
    let library: any LicensedLibrary

    func derivedKey(r2: Secret, for credential: KeyServerCredential) throws -> Secret {
        guard let secret = credential.applicationSecret else { throw Diagnosis.noApplicationSecret }
        return Secret(try library.derive(r2: r2.revealed, applicationSecret: secret.revealed))
    }
}

/// The code of the article "Plug in a derivation", compiled and run.
@Suite struct PlugInADerivationTests {
    private struct Library: LicensedLibrary {
        let key: Secret

        func derive(r2: Data, applicationSecret: Data) throws -> Data {
            #expect(r2.count == 21)
            #expect(applicationSecret.count == 16)
            return key.revealed
        }
    }

    /// The library's expected answers for the forge's SPC.
    private func library(_ forge: SPCForge) throws -> Library {
        let credential = forge.credentials.credential
        return Library(key: try InsecureTestDerivation().derivedKey(r2: Secret(SPCForge.r2), for: credential))
    }

    private func open(
        _ spc: [UInt8], _ credential: KeyServerCredential, _ library: any LicensedLibrary
    ) throws -> ServerPlaybackContext {
        let module = KeyServerModule(credentials: [credential], derivation: LicensedDerivation(library: library))
        return try module.open(spc)
    }

    @Test func `an SPC opens with a plugged-in derivation`() throws {
        let forge = SPCForge()
        let context = try open(forge.spc(), forge.credentials.credential, try library(forge))
        #expect(context.assetID == "asset")
    }

    @Test func `a derivation that gives another key is refused by the integrity bytes`() throws {
        let forge = SPCForge()
        let wrong = Library(key: Secret([UInt8](repeating: 0, count: 16)))
        #expect(throws: KSMRefusal.self) { try open(forge.spc(), forge.credentials.credential, wrong) }
    }
}
