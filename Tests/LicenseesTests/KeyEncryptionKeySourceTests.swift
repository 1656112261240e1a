import Foundation
import LatchkeyCore
import LatchkeyFairPlay
import LatchkeyTesting
import Testing

@testable import LatchkeyLicensees
@testable import LatchkeyLicensing
@testable import LatchkeyVault

@Suite(.timeLimit(.minutes(5))) struct KeyEncryptionKeySourceTests {
    private let bytes = Data(0..<32)
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func write(_ contents: Data, to name: String = "kek", mode: Int = 0o600) throws {
        try contents.write(to: folder.file(name))
        try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: folder.path(name))
    }

    /// Reads a key as a configuration in the folder states it.
    private func key(
        _ change: (inout ServerSettings.KeySource) -> Void = { $0.file = "kek" }, mounts: [String] = [],
        environment: [String: String] = [:]
    ) throws -> KeyEncryptionKey {
        var source = ServerSettings.KeySource()
        change(&source)
        return try KeyEncryptionKey(
            source, in: SecretPlaces(folder: folder.url, mounts: mounts, environment: environment))
    }

    @Test func `32 bytes, their base64 and their digits are one key, from a file and from the environment`() throws {
        let texts = [bytes.base64EncodedString() + "\n", bytes.hexString, "\(bytes.hexString.uppercased())\n"]
        var ids: Set<String> = []
        for contents in [bytes] + texts.map({ Data($0.utf8) }) {
            try write(contents)
            ids.insert(try key().id)
        }
        for text in texts { ids.insert(try key({ $0.variable = "KEK" }, environment: ["KEK": text]).id) }
        #expect(ids.count == 1)
        #expect(ids.first?.hasPrefix("kek-") == true)
        #expect(try key { ($0.file, $0.id) = ("kek", "mine") }.id == "mine")
    }

    @Test(arguments: [0o640, 0o604, 0o620, 0o660, 0o644, 0o610])
    func `a file that others may read or write is refused, unless it is a mounted secret`(_ mode: Int) throws {
        try write(bytes, mode: mode)
        let error = #expect(throws: LicenseeError.self) { try key() }
        #expect(error?.kind == .openToOthers)
        #expect(error?.remedy.contains("600") == true)
        if mode & 0o022 == 0 { #expect(throws: Never.self) { try key(mounts: [folder.url.path]) } }
    }

    @Test(arguments: [
        "0123456789abcdef0123456789ABCDEF", "ASNFZ4mrze8BI0VniavN7w+/3456789=", "0123456789abcdef0123456789abcde\n",
    ])
    func `a key cut to 32 characters is not 32 bytes`(_ text: String) throws {
        try write(Data(text.utf8))
        for error in [
            #expect(throws: VaultError.self) { try key() },
            #expect(throws: VaultError.self) { try key({ $0.variable = "KEK" }, environment: ["KEK": text]) },
        ] {
            #expect(error?.kind == .keyEncryptionKeyUnusable)
            #expect(error?.reason.contains("truncated") == true)
        }
    }

    @Test(arguments: [Data(), Data(count: 31), Data("not a key".utf8), Data(count: 5_000)])
    func `an invalid key is refused`(_ contents: Data) throws {
        try write(contents)
        let error = #expect(throws: VaultError.self) { try key() }
        #expect(error?.kind == .keyEncryptionKeyUnusable)
    }

    @Test func `a missing source is named`() throws {
        #expect(throws: LicenseeError.self) { try key { $0.file = "none" } }
        #expect(throws: LicenseeError.self) { try key { $0.file = "." } }
        let error = #expect(throws: VaultError.self) { try key { $0.variable = "KEK" } }
        #expect(error?.reason.contains("KEK") == true)
    }

    @Test(.enabled(if: SoftHSM.isThere, Comment(rawValue: SoftHSM.whyNot)))
    func `a key in a token opens the file`() throws {
        var generator = SeededGenerator(seed: 5)
        let wrapped = try LicenseeStage.large.credential.certificate.encryptOAEP([UInt8](bytes), using: &generator)
        try write(Data(wrapped), mode: 0o644)
        try write(Data("1234\n".utf8), to: "pin")
        let address = try SoftHSM.address(.license, "object=large")
        let opened = try key { ($0.file, $0.wrapper, $0.pinFile) = ("kek", address, "pin") }
        let known = try KeyEncryptionKey(id: opened.id, key: Secret(bytes))
        let dataKey = DataKey(tenant: "acme", version: 1, using: &generator)
        #expect(try opened.unwrap(known.wrap(dataKey, using: &generator)).key == dataKey.key)

        #expect(throws: LicenseeError.self) { try key { ($0.file, $0.wrapper) = ("kek", address) } }
        try write(Data(wrapped.reversed()), mode: 0o644)
        let error = #expect(throws: VaultError.self) {
            try key({ ($0.file, $0.wrapper, $0.pinVariable) = ("kek", address, "PIN") }, environment: ["PIN": "1234"])
        }
        #expect(error?.kind == .keyEncryptionKeyUnusable)
    }
}
