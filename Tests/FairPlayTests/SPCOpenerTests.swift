import Foundation
import LatchkeyCore
import Testing

@testable import LatchkeyFairPlay

/// Plug-ins of a licensee: container versions and derivations.
@Suite struct SPCOpenerTests {
    /// Opens a container that consists of a version and the unencrypted payload.
    private struct PlainOpener: SPCOpener {
        var versions: Set<UInt32> = [2, 3]
        var index = 0
        struct Broken: Error {}

        func open(_ spc: [UInt8], credentials: [KeyServerCredential]) throws -> OpenedSPC {
            guard spc.count > 8 else { throw Broken() }
            return OpenedSPC(payload: Array(spc.dropFirst(8)), credentialIndex: index)
        }
    }

    private func module(_ opener: PlainOpener) -> KeyServerModule {
        KeyServerModule(
            credentials: [SPCForge.small.credential, SPCForge.large.credential], derivation: InsecureTestDerivation(),
            openers: [opener])
    }

    @Test(arguments: [2, 3] as [UInt32])
    func `an opener reads its versions`(version: UInt32) throws {
        let spc = version.bigEndianBytes + [0, 0, 0, 0] + SPCForge().plaintext()
        let context = try module(PlainOpener()).open(spc)
        #expect(context.containerVersion == version)
        #expect(context.assetID == "asset")
    }

    @Test func `the test credentials' own version 2 does not go to an opener`() throws {
        let context = try module(PlainOpener()).open(SPCForge(SPCForge.large).spc())
        #expect(context.credentialIndex == 1)
    }

    @Test func `a version that no opener lists is unsupported`() throws {
        let spc = UInt32(3).bigEndianBytes + [0, 0, 0, 0] + SPCForge().plaintext()
        let error = #expect(throws: KSMRefusal.self) { try module(PlainOpener(versions: [2])).open(spc) }
        #expect(error?.kind == .unsupportedVersion)
    }

    @Test func `an opener's error and an unknown credential are refusals`() {
        let spc = UInt32(3).bigEndianBytes + [0, 0, 0, 0]
        let broken = #expect(throws: KSMRefusal.self) { try module(PlainOpener()).open(spc) }
        #expect(broken?.kind == .malformedContainer)
        let unknown = #expect(throws: KSMRefusal.self) { try module(PlainOpener(index: 7)).open(spc + [0]) }
        #expect(unknown?.kind == .unknownCertificate)
    }

    @Test func `a fixed derivation needs no application secret key`() throws {
        let forge = SPCForge()
        let dask = try InsecureTestDerivation().derivedKey(r2: Secret(SPCForge.r2), for: forge.credentials.credential)
        let credential = try KeyServerCredential(
            certificate: forge.credentials.credential.certificate,
            privateKey: forge.credentials.privateKey, applicationSecret: nil)
        let fixed = KeyServerModule(credentials: [credential], derivation: try FixedDerivation(dask: dask))
        #expect(try fixed.open(forge.spc()).assetID == "asset")
        let test = KeyServerModule(credentials: [credential], derivation: InsecureTestDerivation())
        let error = #expect(throws: KSMRefusal.self) { try test.open(forge.spc()) }
        #expect(error?.kind == .integrity)
        #expect(error?.reason.contains("no application secret key") == true)
    }

    @Test(arguments: [0, 15, 17])
    func `a fixed derivation takes 16 bytes`(count: Int) {
        #expect(throws: Diagnosis.self) { try FixedDerivation(dask: Secret([UInt8](repeating: 0, count: count))) }
    }

    @Test func `the test derivation refuses a certificate without the marker`() throws {
        let certificate = try FairPlayCertificate(CertificateFixture.unmarked)
        let error = #expect(throws: Diagnosis.self) {
            try InsecureTestDerivation().derivedKey(
                r2: Secret(SPCForge.r2), applicationSecret: Secret([UInt8](0..<16)), certificate: certificate)
        }
        #expect(error?.code == "notTestCertificate")
    }
}
