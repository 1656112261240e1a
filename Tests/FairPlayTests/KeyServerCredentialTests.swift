import Foundation
import LatchkeyCore
import Testing

@testable import LatchkeyFairPlay

@Suite(.timeLimit(.minutes(5))) struct KeyServerCredentialTests {
    private let small = SPCForge.small
    private let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)

    @Test func `written credentials read back`() throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        try small.write(to: folder)
        let read = try KeyServerCredential(directory: folder)
        #expect(read.certificate == small.credential.certificate)
        #expect(read.applicationSecret == small.applicationSecret)
        var generator = SeededGenerator(seed: 1)
        let wrapped = try read.certificate.encryptOAEP([1, 2, 3], using: &generator)
        #expect(read.unwrap(wrapped) == Secret([1, 2, 3]))
    }

    @Test(arguments: ["private-key.pem", "ask.hex"])
    func `only the owner can read written secrets, even if others could read the replaced file`(name: String) throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let file = folder.appendingPathComponent(name).path
        #expect(FileManager.default.createFile(atPath: file, contents: nil, attributes: [.posixPermissions: 0o644]))
        try small.write(to: folder)
        let mode = try FileManager.default.attributesOfItem(atPath: file)[.posixPermissions] as? Int
        #expect(mode == 0o600)
    }

    @Test func `a folder without an application secret key is good for derivations that need none`() throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        try small.write(to: folder)
        try FileManager.default.removeItem(at: folder.appendingPathComponent("ask.hex"))
        #expect(try KeyServerCredential(directory: folder).applicationSecret == nil)
    }

    @Test(arguments: [
        ("certificate.der", nil, CertificateError.Kind.fileUnreadable), ("private-key.pem", nil, .fileUnreadable),
        ("private-key.pem", "no key", .privateKeyUnreadable), ("ask.hex", "00ff", .applicationSecretUnreadable),
        ("ask.hex", "zz0102030405060708090a0b0c0d0e0f", .applicationSecretUnreadable),
        ("private-key.pem", CertificateFixture.lockedKey, .privateKeyUnreadable),
    ])
    func `a folder with a broken file is refused`(name: String, text: String?, kind: CertificateError.Kind) throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        try small.write(to: folder)
        let file = folder.appendingPathComponent(name)
        try FileManager.default.removeItem(at: file)
        try text.map { try Data($0.utf8).write(to: file) }
        let error = #expect(throws: CertificateError.self) { try KeyServerCredential(directory: folder) }
        #expect(error?.kind == kind)
    }

    @Test func `another certificate's private key is refused`() throws {
        let error = #expect(throws: CertificateError.self) {
            try KeyServerCredential(
                certificate: small.credential.certificate, privateKeyPEM: SPCForge.other.privateKey.pem(),
                applicationSecret: nil)
        }
        #expect(error?.kind == .privateKeyMismatch)
    }

    @Test func `test credentials come in only two sizes`() {
        #expect(throws: CertificateError.self) { try TestCredentials.make(bits: 512) }
    }

    @Test func `many tasks decrypt with one key`() async throws {
        let credential = small.credential
        var generator = SeededGenerator(seed: 2)
        let wrapped = try (0..<16).map { try credential.certificate.encryptOAEP([UInt8($0)], using: &generator) }
        await withTaskGroup(of: Bool.self) { group in
            for number in 0..<200 {
                group.addTask { credential.unwrap(wrapped[number % 16]) == Secret([UInt8(number % 16)]) }
            }
            for await isRight in group { #expect(isRight) }
        }
    }

    @Test(arguments: [0, 1, 127, 128, 129, 256])
    func `bytes that the key did not encrypt do not decrypt`(count: Int) {
        #expect(small.credential.unwrap([UInt8](repeating: 0x17, count: count)) == nil)
    }
}
