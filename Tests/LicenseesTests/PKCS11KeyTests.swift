import Foundation
import LatchkeyCore
import LatchkeyFairPlay
import LatchkeyTesting
import Testing

@testable import LatchkeyHTTP
@testable import LatchkeyLicensees

@Suite(.timeLimit(.minutes(5)), .enabled(if: SoftHSM.isThere, Comment(rawValue: SoftHSM.whyNot)))
struct PKCS11KeyTests {
    private func credential(_ stage: LicenseeStage, _ key: PKCS11Key) throws -> KeyServerCredential {
        try KeyServerCredential(
            certificate: stage.credential.certificate, key: key, applicationSecret: stage.credentials.applicationSecret)
    }

    private func wrapped(_ byte: UInt8) throws -> [UInt8] {
        var generator = SeededGenerator(seed: UInt64(byte))
        return try LicenseeStage.small.credential.certificate.encryptOAEP([byte], using: &generator)
    }

    @Test(arguments: ["object=small", "id=%01", "object=small;id=%01"])
    func `a whole license is made with the private key in a token`(key: String) throws {
        let credential = try credential(.small, SoftHSM.key(.license, key))
        let module = KeyServerModule(credentials: [credential], derivation: InsecureTestDerivation())
        try LicenseeStage.small.expectLicense(from: module)
    }

    @Test func `a token has several credentials, chosen by the SPC`() throws {
        let module = KeyServerModule(
            credentials: [
                try credential(.large, SoftHSM.key(.license, "object=large")),
                try credential(.small, SoftHSM.key(.license, "object=small")),
            ], derivation: InsecureTestDerivation())
        try LicenseeStage.small.expectLicense(from: module)
        try LicenseeStage.large.expectLicense(from: module)
    }

    @Test func `four threads share one key to make licenses`() async throws {
        let credential = try credential(.small, SoftHSM.key(.license, "object=small"))
        let module = KeyServerModule(credentials: [credential], derivation: InsecureTestDerivation())
        let pool = WorkerPool(threads: 4)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<40 {
                group.addTask {
                    let made = await pool.run {
                        Result { try LicenseeStage.small.expectLicense(from: module, seed: UInt64(number)) }
                    }
                    try #require(made).get()
                }
            }
            try await group.waitForAll()
        }
    }

    @Test func `bytes that the key did not encrypt do not open, and the next ones do`() throws {
        let key = try SoftHSM.key(.license, "object=small")
        for count in [0, 1, 127, 128, 129, 256] {
            #expect(try key.decryptOAEP([UInt8](repeating: 0x17, count: count)[...]) == nil)
        }
        var changed = try wrapped(1)
        changed[100] ^= 1
        #expect(try key.decryptOAEP(changed[...]) == nil)
        #expect(try key.decryptOAEP(wrapped(1)[...]) == Secret([1]))
    }

    @Test func `another certificate's key is a mismatch`() throws {
        let key = try SoftHSM.key(.license, "object=large")
        let error = #expect(throws: CertificateError.self) { try credential(.small, key) }
        #expect(error?.kind == .privateKeyMismatch)
    }

    @Test(arguments: ["object=none", "object=small;id=%02", "object=twin"])
    func `a missing or ambiguous key is not found`(key: String) throws {
        let error = #expect(throws: LicenseeError.self) { try SoftHSM.key(.license, key) }
        #expect(error?.kind == .objectMissing)
        #expect(error?.reason.contains("“license”") == true)
    }

    @Test func `a missing token or module is reported`() throws {
        let address = try SoftHSM.address(.license, "object=small")
        let token = #expect(throws: LicenseeError.self) {
            try PKCS11Key(PKCS11Address(address.replacing("token=license", with: "token=none")), pin: SoftHSM.pin)
        }
        #expect(token?.kind == .tokenMissing)
        let serial = #expect(throws: LicenseeError.self) {
            try PKCS11Key(PKCS11Address(address.replacing(";type", with: ";serial=0;type")), pin: SoftHSM.pin)
        }
        #expect(serial?.kind == .tokenMissing)
        let module = #expect(throws: LicenseeError.self) {
            try PKCS11Key(PKCS11Address("pkcs11:token=a;object=b?module-path=/none.so"), pin: SoftHSM.pin)
        }
        #expect(module?.kind == .moduleUnusable)
    }

    @Test(.enabled(if: SoftHSM.hasOpenSC, "OpenSC is not installed"))
    func `an extractable key is refused`() throws {
        let error = #expect(throws: LicenseeError.self) { try SoftHSM.key(.license, "object=loose") }
        #expect(error?.kind == .objectUnsafe)
    }

    @Test func `a wrong PIN is tried once, and no message shows it`() throws {
        let address = try PKCS11Address(SoftHSM.address(.guarded, "object=small"))
        let wrong = try PKCS11Token(address, pin: Secret("98765"))
        let first = #expect(throws: LicenseeError.self) { try wrong.session() }
        #expect(first?.kind == .pinRefused)
        #expect(first?.description.contains("98765") == false)
        // The right one clears the token's mark of a wrong try; a second wrong try would set it again.
        let right = try PKCS11Key(address, pin: SoftHSM.pin)
        try right.loseSessions()
        #expect(try !right.sawWrongPIN())
        let second = #expect(throws: LicenseeError.self) { try wrong.session() }
        #expect(second?.kind == .pinRefused)
        #expect(try !right.sawWrongPIN())
        #expect(throws: LicenseeError.self) { try PKCS11Key(address, pin: Secret("98765")) }
        #expect(try !right.sawWrongPIN())
        #expect(throws: LicenseeError.self) { try PKCS11Key(address, pin: Secret("87654")) }
        #expect(try right.sawWrongPIN())
    }

    @Test func `an empty PIN is not tried`() {
        let error = #expect(throws: LicenseeError.self) { try SoftHSM.key(.license, "object=small", pin: Secret("")) }
        #expect(error?.kind == .pinMissing)
    }

    @Test func `lost sessions are reopened, on every thread`() async throws {
        let key = try SoftHSM.key(.lost, "object=small")
        let pool = WorkerPool(threads: 4)
        for _ in 0..<3 {
            let opened = try await withThrowingTaskGroup(of: Secret?.self) { group in
                let wrapped = try wrapped(9)
                for _ in 0..<16 {
                    group.addTask { try await pool.run { Result { try key.decryptOAEP(wrapped[...]) } }?.get() ?? nil }
                }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            #expect(opened == [Secret?](repeating: Secret([9]), count: 16))
            try key.loseSessions()
        }
    }

    /// Run with `LATCHKEY_MEASURE=1`; `Documentation/Licensees.md` §3 has figures.
    @Test(.enabled(if: ProcessInfo.processInfo.environment["LATCHKEY_MEASURE"] != nil, "LATCHKEY_MEASURE is not set"))
    func `decryptions a second, by libcrypto and by SoftHSM`() async throws {
        var lines = ""
        for (stage, object) in [(LicenseeStage.small, "small"), (.large, "large")] {
            let certificate = stage.credential.certificate
            var generator = SeededGenerator(seed: 1)
            let wrapped = try certificate.encryptOAEP([UInt8](0..<16), using: &generator)
            for threads in [1, 2] {
                let memory = try await rate(of: stage.credential.key, wrapped, threads)
                let token = try await rate(of: SoftHSM.key(.license, "object=\(object)"), wrapped, threads)
                let ratio = (token / memory).formatted(.number.precision(.fractionLength(2)))
                lines += "RSA \(certificate.rsaBits), \(threads) threads: libcrypto \(Int(memory))/s, "
                lines += "SoftHSM \(Int(token))/s, \(ratio)\n"
            }
        }
        FileHandle.standardError.write(Data(lines.utf8))
    }

    private func rate(of key: any ApplicationKey, _ wrapped: [UInt8], _ threads: Int) async throws -> Double {
        let pool = WorkerPool(threads: threads)
        let begin = ContinuousClock.now
        let counts = try await withThrowingTaskGroup(of: Int.self) { group in
            for _ in 0..<threads {
                group.addTask {
                    try await pool.run {
                        Result {
                            var count = 0
                            while ContinuousClock.now - begin < .seconds(2) {
                                _ = try key.decryptOAEP(wrapped[...])
                                count += 1
                            }
                            return count
                        }
                    }?.get() ?? 0
                }
            }
            return try await group.reduce(0, +)
        }
        return Double(counts) / ((ContinuousClock.now - begin) / .seconds(1))
    }
}
