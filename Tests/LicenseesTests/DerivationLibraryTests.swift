import BuiltLibrary
import Foundation
import LatchkeyCore
import LatchkeyDevice
import LatchkeyFairPlay
import LatchkeyTesting
import Testing

@testable import LatchkeyLicensees

@Suite(.timeLimit(.minutes(5)), .enabled(if: BuiltLibrary.canBuild, "there is no C compiler"))
struct DerivationLibraryTests {
    private let stage = LicenseeStage.small

    private func module(_ library: DerivationLibrary, _ credential: KeyServerCredential? = nil) -> KeyServerModule {
        KeyServerModule(
            credentials: [credential ?? stage.credential], derivation: library,
            openers: library.opener.map { [$0] } ?? [])
    }

    @Test func `a license is made with a library's derivation`() throws {
        let built = try BuiltLibrary.derivation()
        let library = try DerivationLibrary(path: built)
        try library.selfTest()
        #expect(library.hasSelfTest)
        #expect(library.opener == nil)
        try stage.expectLicense(from: module(library))
    }

    @Test func `many tasks derive with one library`() async throws {
        let library = try DerivationLibrary(path: BuiltLibrary.derivation())
        let credential = stage.credential
        await withTaskGroup(of: Bool.self) { group in
            for number in 0..<200 {
                group.addTask {
                    let r2 = Secret([UInt8](repeating: UInt8(number), count: 21))
                    let expected = try? InsecureTestDerivation().derivedKey(r2: r2, for: credential)
                    return expected != nil && (try? library.derivedKey(r2: r2, for: credential)) == expected
                }
            }
            for await isRight in group { #expect(isRight) }
        }
    }

    @Test(arguments: [
        ("NO_VERSION", LicenseeError.Kind.symbolMissing, "latchkey_derivation_version"),
        ("NO_DERIVE", .symbolMissing, "latchkey_derivation_derive"), ("VERSION=2", .otherVersion, "version 2"),
        ("VERSION=0", .otherVersion, "version 0"),
    ])
    func `a library with another interface is refused`(macro: String, kind: LicenseeError.Kind, words: String) throws {
        let built = try BuiltLibrary.derivation(macro)
        let error = #expect(throws: LicenseeError.self) { try DerivationLibrary(path: built) }
        #expect(error?.kind == kind)
        #expect(error?.reason.contains(words) == true)
        #expect(error?.reason.contains(built) == true)
    }

    @Test func `half an opener is refused`() throws {
        let built = try BuiltLibrary.derivation("WITH_OPENER", "HALF_AN_OPENER")
        let error = #expect(throws: LicenseeError.self) { try DerivationLibrary(path: built) }
        #expect(error?.kind == .symbolMissing)
    }

    @Test func `a failed self-test reports its number`() throws {
        let library = try DerivationLibrary(path: BuiltLibrary.derivation("SELF_TEST_FAILS"))
        let error = #expect(throws: LicenseeError.self) { try library.selfTest() }
        #expect(error?.kind == .selfTestFailed)
        #expect(error?.reason.contains("77") == true)
    }

    @Test func `a missing file, an invalid library, or one others can change is refused`() throws {
        let folder = try TemporaryFolder()
        let missing = #expect(throws: LicenseeError.self) { try DerivationLibrary(path: folder.path("none.so")) }
        #expect(missing?.kind == .missing)
        let isFolder = #expect(throws: LicenseeError.self) { try DerivationLibrary(path: folder.url.path) }
        #expect(isFolder?.kind == .missing)
        let text = try folder.write("no library", to: "text.so")
        let unloadable = #expect(throws: LicenseeError.self) { try DerivationLibrary(path: text) }
        #expect(unloadable?.kind == .unloadable)
        let copy = folder.path("open.so")
        try FileManager.default.copyItem(atPath: BuiltLibrary.derivation(), toPath: copy)
        try FileManager.default.setAttributes([.posixPermissions: 0o757], ofItemAtPath: copy)
        let open = #expect(throws: LicenseeError.self) { try DerivationLibrary(path: copy) }
        #expect(open?.kind == .unsafe)
        #expect(open?.remedy.contains("chmod go-w") == true)
    }

    @Test func `a failed derivation refuses the SPC and reports its number`() throws {
        let library = try DerivationLibrary(path: BuiltLibrary.derivation("DERIVE_RETURNS=42"))
        let spc = try stage.exchange().spc.revealed
        let error = #expect(throws: KSMRefusal.self) { try module(library).open(spc) }
        #expect(error?.kind == .integrity)
        #expect(error?.reason.contains("42") == true)
    }

    @Test func `a derivation without its application secret key says so`() throws {
        let library = try DerivationLibrary(path: BuiltLibrary.derivation())
        let credential = try stage.credential.replacing(applicationSecret: nil)
        let error = #expect(throws: Diagnosis.self) {
            try library.derivedKey(r2: Secret([UInt8](repeating: 0, count: 21)), for: credential)
        }
        #expect(error == .noApplicationSecret)
    }

    @Test func `an R2 of another length does not reach C`() throws {
        let library = try DerivationLibrary(path: BuiltLibrary.derivation())
        #expect(throws: Diagnosis.self) { try library.derivedKey(r2: Secret([1]), for: stage.credential) }
    }

    // MARK: - The opener

    @Test func `a library opens its own version's SPCs, with the server's private key`() throws {
        let library = try DerivationLibrary(path: BuiltLibrary.derivation("WITH_OPENER"))
        #expect(library.opener?.versions == [3])
        try stage.expectLicense(from: module(library), version: 3)
    }

    @Test func `an opener's SPC for another certificate is refused as such`() throws {
        let library = try DerivationLibrary(path: BuiltLibrary.derivation("WITH_OPENER"))
        var spc = Array(try stage.exchange().spc.revealed)
        spc[3] = 3
        let error = #expect(throws: KSMRefusal.self) { try module(library, LicenseeStage.large.credential).open(spc) }
        #expect(error?.kind == .unknownCertificate)
        spc[160] ^= 1
        let unknown = #expect(throws: KSMRefusal.self) { try module(library).open(spc) }
        #expect(unknown?.kind == .unknownCertificate)
    }

    @Test func `an opener's payload key that does not open is refused`() throws {
        let library = try DerivationLibrary(path: BuiltLibrary.derivation("WITH_OPENER"))
        var spc = Array(try stage.exchange().spc.revealed)
        spc[3] = 3
        spc[100] ^= 1
        let error = #expect(throws: KSMRefusal.self) { try module(library).open(spc) }
        #expect(error?.kind == .rsaDecryptFailed)
    }

    @Test(arguments: ["PAYLOAD_COUNT=1000000", "PAYLOAD_COUNT=(size_t)-1"])
    func `an opener that states more payload than there is room is refused`(macro: String) throws {
        let library = try DerivationLibrary(path: BuiltLibrary.derivation("WITH_OPENER", macro))
        var spc = Array(try stage.exchange().spc.revealed)
        spc[3] = 3
        let error = #expect(throws: KSMRefusal.self) { try module(library).open(spc) }
        #expect(error?.kind == .malformedContainer)
    }
}
