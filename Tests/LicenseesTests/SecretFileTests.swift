import Foundation
import LatchkeyCore
import LatchkeyTesting
import Testing

@testable import LatchkeyLicensees

@Suite(.timeLimit(.minutes(5))) struct SecretFileTests {
    private let folder: TemporaryFolder
    private let file: String

    init() throws {
        folder = try TemporaryFolder()
        file = try folder.write("a secret", to: "secret")
    }

    private func read(mode: Int, mounts: [String] = []) throws -> Secret {
        try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: file)
        return try SecretFile(mounts: mounts).read(file)
    }

    @Test(arguments: [0o600, 0o400, 0o700])
    func `a file of its owner alone is read`(mode: Int) throws {
        #expect(try read(mode: mode) == Secret("a secret"))
    }

    @Test(arguments: [0o640, 0o604, 0o620, 0o602, 0o610, 0o644, 0o666])
    func `a file that is open to others is refused, with the command to run`(mode: Int) {
        let error = #expect(throws: LicenseeError.self) { try read(mode: mode) }
        #expect(error?.kind == .openToOthers)
        #expect(error?.remedy.contains("chmod 600 \(file)") == true)
    }

    @Test func `a mounted secret may be readable by others, but not writable`() throws {
        #expect(try read(mode: 0o444, mounts: [folder.url.path]) == Secret("a secret"))
        #expect(throws: LicenseeError.self) { try read(mode: 0o664, mounts: [folder.url.path]) }
        #expect(throws: LicenseeError.self) { try read(mode: 0o444, mounts: [folder.url.path + "/../secret"]) }
        #expect(throws: LicenseeError.self) { try read(mode: 0o444, mounts: [String(folder.url.path.dropLast())]) }
    }

    @Test func `only a short regular file is accepted`() throws {
        let secret = SecretFile(mounts: [])
        for path in [folder.url.path, folder.path("none")] {
            let error = #expect(throws: LicenseeError.self) { try secret.read(path) }
            #expect(error?.kind == .unreadable)
        }
        try Data(count: SecretFile.limit + 1).write(to: URL(filePath: file))
        #expect(throws: LicenseeError.self) { try read(mode: 0o600) }
    }

    @Test func `an empty file is an empty secret`() throws {
        try Data().write(to: URL(filePath: file))
        #expect(try read(mode: 0o600) == Secret(""))
    }
}
