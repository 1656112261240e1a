import BuiltLibrary
import Foundation
import LatchkeyCore
import LatchkeyDevice
import LatchkeyFairPlay
import LatchkeyTesting
import Testing

@testable import LatchkeyLicensees

/// Eight RSA operations in one call: by a stand-in on any machine, and by Intel's library where it is installed and runs.
@Suite(.timeLimit(.minutes(5)), .enabled(if: BuiltLibrary.canBuild, "there is no C compiler"))
struct CryptoMBTests {
    /// A library, with a log of its calls.
    private final class Watched: Sendable {
        let outcomes = Locked<[RSABatch.Outcome]>([])
        let batch: RSABatch

        init(_ library: CryptoMBLibrary) {
            batch = RSABatch(library.function, check: library.check) { [outcomes] outcome in
                outcomes.withLock { $0.append(outcome) }
            }
        }

        var operations: [Int] { outcomes.withLock { $0.map(\.operations) } }
        var wrong: Int { outcomes.withLock { $0.reduce(0) { $0 + $1.wrong } } }
    }

    private static func standIn(_ macros: String...) throws -> Watched {
        let path =
            switch macros.count {
            case 0: try BuiltLibrary.cryptoMB()
            default: try BuiltLibrary.cryptoMB(macros[0])
            }
        return Watched(try CryptoMBLibrary(path: path))
    }

    static let canUseReal = (try? CryptoMBLibrary(path: BuiltLibrary.realCryptoMB)) != nil

    // Making RSA keys is slow.
    private static let others = Result { try [1_024, 2_048].map { try TestCredentials.make(bits: $0) } }

    private static func credentials() throws -> [KeyServerCredential] {
        try [LicenseeStage.small.credential, LicenseeStage.large.credential] + others.get().map(\.credential)
    }

    /// An operation with a text that is right, malformed, or not as long as the key.
    private static func operation(
        _ credential: KeyServerCredential, using generator: inout SeededGenerator
    ) throws -> RSABatch.Operation {
        let key = try #require(credential.key as? RSAPrivateKey)
        let message = generator.bytes(Int.random(in: 0...40, using: &generator))
        var text = try credential.certificate.encryptOAEP(message, using: &generator)
        switch Int.random(in: 0..<12, using: &generator) {
        case 0: text[text.count - 1] ^= 1
        case 1: text = [UInt8](repeating: 0xff, count: text.count)
        case 2: text.removeLast()
        case 3: text = [UInt8](repeating: 0, count: text.count - 1) + [1]
        default: break
        }
        return RSABatch.Operation(key: key, text: text[...])
    }

    /// Decrypts 1,000 texts in batches of 1 to 20 with mixed keys, and compares each with OpenSSL's result for it alone.
    private func expectEquality(_ library: Watched, seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        let credentials = try Self.credentials()
        var (done, opened) = (0, 0)
        while done < 1_000 {
            let operations = try (0..<Int.random(in: 1...20, using: &generator)).map { _ in
                try Self.operation(credentials.randomElement(using: &generator) ?? credentials[0], using: &generator)
            }
            let results = library.batch.decryptOAEP(operations)
            #expect(results == operations.map { $0.key.decryptOAEP($0.text) })
            done += operations.count
            opened += results.count { $0 != nil }
        }
        #expect(opened > 500 && opened < done)
        #expect(Set(library.operations) == Set(2...8))
    }

    @Test func `a thousand texts under mixed keys open as OpenSSL opens them`() throws {
        let library = try Self.standIn()
        try expectEquality(library, seed: 1)
        #expect(library.wrong == 0)
    }

    @Test(.enabled(if: canUseReal, "Intel's crypto_mb is not installed, or the processor has no AVX-512 IFMA"))
    func `Intel's library opens a thousand texts under mixed keys as OpenSSL opens them`() throws {
        let library = Watched(try CryptoMBLibrary(path: BuiltLibrary.realCryptoMB))
        try expectEquality(library, seed: 2)
        #expect(library.wrong == 0)
    }

    @Test func `a wrong lane that the library confirms is computed again and counted`() throws {
        let library = try Self.standIn("CONFIRMED_LANE=1")
        try expectEquality(library, seed: 4)
        // Where the text is malformed, too, nothing shows that the library was wrong.
        #expect(library.wrong > library.operations.count / 2 && library.wrong < library.operations.count)
    }

    @Test(arguments: ["WRONG_LANE=1", "FAILED_LANE=1", "WRONG_LANE=0"])
    func `a wrong lane is computed again and counted`(macro: String) throws {
        let library = try Self.standIn(macro)
        try expectEquality(library, seed: 3)
        #expect(library.wrong == library.operations.count)
    }

    @Test(arguments: 1...9) func `each operation uses one lane`(count: Int) throws {
        let library = try Self.standIn()
        var generator = SeededGenerator(seed: UInt64(count))
        let credential = LicenseeStage.large.credential
        let key = try #require(credential.key as? RSAPrivateKey)
        let messages = (0..<count).map { [UInt8](repeating: UInt8($0), count: 16) }
        let operations = try messages.map {
            RSABatch.Operation(key: key, text: try credential.certificate.encryptOAEP($0, using: &generator)[...])
        }
        #expect(library.batch.decryptOAEP(operations) == messages.map { Secret($0) })
        // Below three, OpenSSL is quicker.
        #expect(library.operations == (count < 3 ? [] : [min(count, 8)]))
    }

    @Test func `many tasks decrypt with one library`() async throws {
        let library = try Self.standIn()
        let credentials = try Self.credentials()
        await withTaskGroup(of: Bool.self) { group in
            for number in 0..<40 {
                group.addTask {
                    var generator = SeededGenerator(seed: UInt64(number))
                    let operations = try? (0..<8).map { try Self.operation(credentials[$0 % 4], using: &generator) }
                    guard let operations else { return false }
                    return library.batch.decryptOAEP(operations) == operations.map { $0.key.decryptOAEP($0.text) }
                }
            }
            for await isRight in group { #expect(isRight) }
        }
    }
}

/// SPCs that are opened together.
extension CryptoMBTests {
    /// A key in a token, which no batch can have.
    private struct TokenKey: ApplicationKey {
        let key: any ApplicationKey

        func decryptOAEP(_ wrapped: ArraySlice<UInt8>) throws -> Secret? { try key.decryptOAEP(wrapped) }
    }

    private struct Opener: SPCOpener {
        let versions: Set<UInt32> = [3]

        func open(_ spc: [UInt8], credentials: [KeyServerCredential]) throws -> OpenedSPC {
            throw KSMRefusal(.integrity, reason: "The opener says no.")
        }
    }

    @Test func `each SPC opens, or is refused, as if alone`() throws {
        let library = try Self.standIn("WRONG_LANE=2")
        let (small, large) = (LicenseeStage.small, LicenseeStage.large)
        let both = KeyServerModule(
            credentials: [small.credential, large.credential], derivation: InsecureTestDerivation(),
            openers: [Opener()])
        let token = try KeyServerCredential(
            certificate: small.credential.certificate, key: TokenKey(key: small.credential.key),
            applicationSecret: small.credential.applicationSecret)
        let inToken = KeyServerModule(credentials: [token], derivation: InsecureTestDerivation())
        let none = KeyServerModule(credentials: [], derivation: InsecureTestDerivation())
        let exchanges = try (1...10).map { try ($0.isMultiple(of: 3) ? small : large).exchange(seed: $0) }
        var openings = exchanges.map { KeyServerModule.Opening(module: both, spc: Array($0.spc.revealed)) }
        let first = try small.exchange().spc
        var damaged = Array(first.revealed)
        damaged[40] ^= 1
        var plugged = damaged
        plugged[3] = 3
        for (module, spc) in [
            (both, []), (both, damaged), (both, plugged), (none, Array(first.revealed)),
            (inToken, Array(first.revealed)), (inToken, damaged),
        ] {
            openings.insert(KeyServerModule.Opening(module: module, spc: spc), at: openings.count / 2)
        }
        let together = KeyServerModule.open(openings, by: library.batch)
        #expect(together.count == openings.count)
        for (opening, result) in zip(openings, together) {
            let alone = Result { () throws(KSMRefusal) in try opening.module.open(opening.spc) }
            #expect(result.mapValue(\.summary) == alone.mapValue(\.summary))
        }
        #expect(together.count { (try? $0.get()) != nil } == 11)
        // Six or seven of 2048 bits, four of 1024.
        #expect(library.operations.sorted() == [4, 7])
        #expect(library.wrong == 2)
    }
}

extension Result where Failure == KSMRefusal {
    fileprivate func mapValue<Other: Equatable>(_ path: KeyPath<Success, Other>) -> Result<Other, KSMRefusal> {
        map { $0[keyPath: path] }
    }
}

extension ServerPlaybackContext {
    /// Enough to distinguish contexts.
    fileprivate var summary: String {
        "\(assetID) \(transactionID) \(credentialIndex) \(deviceIdentifier.revealed.hexString) \(blocks.count)"
    }
}

/// An unusable library says why.
extension CryptoMBTests {
    @Test(arguments: [
        ("NO_APPLICABLE", LicenseeError.Kind.symbolMissing, "mbx_is_crypto_mb_applicable"),
        ("NO_DECRYPT", .symbolMissing, "mbx_rsa_private_crt_mb8"), ("NO_CHECK", .symbolMissing, "mbx_rsa_public_mb8"),
        ("APPLICABLE=0", .otherProcessor, "AVX-512 IFMA"),
    ])
    func `a library that lacks something, or the processor's instructions, is not used`(
        macro: String, kind: LicenseeError.Kind, word: String
    ) throws {
        let path = try BuiltLibrary.cryptoMB(macro)
        let error = #expect(throws: LicenseeError.self) { try CryptoMBLibrary(path: path) }
        #expect(error?.kind == kind)
        #expect(error?.reason.contains(word) == true && error?.reason.contains(path) == true)
    }

    @Test func `a folder has the library by name, or the error names it`() throws {
        let folder = try TemporaryFolder()
        let error = #expect(throws: LicenseeError.self) { try CryptoMBLibrary(path: folder.path("")) }
        #expect(error?.kind == .missing && error?.reason.contains(CryptoMBLibrary.name) == true)
        let file = folder.path(CryptoMBLibrary.name)
        try FileManager.default.copyItem(atPath: BuiltLibrary.cryptoMB(), toPath: file)
        #expect(try CryptoMBLibrary(path: folder.path("")).path.hasSuffix(CryptoMBLibrary.name))
        try #require(chmod(file, 0o777) == 0)
        #expect(throws: LicenseeError.self) { try CryptoMBLibrary(path: file) }
    }

    @Test func `a runtime library that others may change is not loaded`() throws {
        let folder = try TemporaryFolder()
        try FileManager.default.copyItem(atPath: BuiltLibrary.cryptoMB(), toPath: folder.path(CryptoMBLibrary.name))
        try FileManager.default.copyItem(atPath: BuiltLibrary.cryptoMB(), toPath: folder.path("libsvml.so"))
        #expect(throws: Never.self) { try CryptoMBLibrary(path: folder.path("")) }
        try #require(chmod(folder.path("libsvml.so"), 0o777) == 0)
        let error = #expect(throws: LicenseeError.self) { try CryptoMBLibrary(path: folder.path("")) }
        #expect(error?.kind == .unsafe)
    }
}
