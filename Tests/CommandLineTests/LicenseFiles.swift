import Foundation
import LatchkeyTesting

@testable import LatchkeyCommandLine

/// A folder of credentials, SPCs, their states and CKCs, each made by its verb.
struct LicenseFiles {
    static let key = "00112233445566778899aabbccddeeff"
    static let iv = "f0e0d0c0b0a090807060504030201000"
    let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    /// Test credentials in the folder `c` or another.
    func credentials(_ name: String = "c", bits: String = "1024") async {
        _ = await RecordedRun("credentials", "--out", folder.path(name), "--bits", bits)
    }

    /// `a.spc` and `a.state`, or of another name.
    func spc(_ words: String..., id: String = "my-asset", name: String = "a") async -> RecordedRun {
        await RecordedRun(
            [
                "spc", "--credentials", folder.path("c"), "--content-id", id, "--out", folder.path("\(name).spc"),
                "--state", folder.path("\(name).state"), "--json",
            ] + words, tool: .standard)
    }

    /// `a.ckc`.
    func ckc(
        _ words: [String] = [], from: String = "a.spc", by credentials: [String] = ["c"]
    ) async -> RecordedRun {
        await RecordedRun(
            ["ckc"] + credentials.flatMap { ["--credentials", folder.path($0)] } + [
                "--key", Self.key, "--iv", Self.iv, "--out", folder.path("a.ckc"), "--json",
            ] + words + [folder.path(from)], tool: .standard)
    }
}
