import Foundation
import LatchkeyTesting
import Testing

@testable import LatchkeyCommandLine
@testable import LatchkeyTerminal

@Suite(.timeLimit(.minutes(5))) struct InspectVerbTests {
    private let files: LicenseFiles
    private var folder: TemporaryFolder { files.folder }

    init() throws { files = try LicenseFiles() }

    private func inspect(_ kind: String, _ name: String, _ words: String...) async -> RecordedRun {
        await RecordedRun(["inspect", kind, folder.path(name), "--json"] + words, tool: .standard)
    }

    private func problems(_ run: RecordedRun) -> [String] {
        (run.json["problems"] as? [[String: String]] ?? []).map { "\($0["severity"] ?? "") \($0["code"] ?? "")" }
    }

    @Test func `an SPC shows its header, and its payload to the server`() async throws {
        await files.credentials()
        _ = await files.spc("--playback-state", "renewal", "--shown-on", "airplay", "--session", "00000000000000ff")
        let outside = await inspect("spc", "a.spc")
        #expect(outside.status == .yes)
        #expect(outside.json["kind"] as? String == "spc")
        #expect(outside.json["version"] as? Int == 1)
        #expect(outside.json["bytes"] as? Int == folder.contents("a.spc")?.count)
        #expect(outside.json["assetID"] == nil)
        #expect(outside.json["error"] == nil)
        let inside = await inspect("spc", "a.spc", "--credentials", folder.path("c"))
        #expect(inside.json["assetID"] as? String == "my-asset")
        #expect(inside.json["assetIDHex"] as? String == "6d792d6173736574")
        #expect(inside.json["playbackState"] as? String == "lease expiring")
        #expect(inside.json["playbackSession"] as? String == "00000000000000ff")
        #expect(inside.json["destination"] as? String == "airPlay")
        #expect(inside.json["capabilities"] as? [String] == ["hdcpEnforcement"])
        #expect(inside.json["certificateSubject"] as? String == "O=Latchkey Test")
        #expect(inside.json["certificateSHA1"] as? String == outside.json["certificateSHA1"] as? String)
    }

    @Test func `an SPC is opened with a given derived key`() async throws {
        await files.credentials()
        _ = await files.spc()
        let wrong = ["--credentials", folder.path("c"), "--dask", "d9f11e0d0e8e08bc875173eba62526e1"]
        let run = await RecordedRun(["inspect", "spc", folder.path("a.spc"), "--json"] + wrong, tool: .standard)
        #expect(run.status == .no)
        #expect(run.errorCode == "integrity" || run.output.contains("integrity"), "\(run.output)")
    }

    @Test func `the text output shows an SPC's facts`() async {
        await files.credentials()
        _ = await files.spc()
        let outside = await RecordedRun("inspect", "spc", folder.path("a.spc"))
        #expect(outside.output.contains("encrypted; --credentials DIR opens it"))
        let inside = await RecordedRun("inspect", "spc", folder.path("a.spc"), "--credentials", folder.path("c"))
        #expect(inside.output.contains("Asset ID      my-asset (6d792d6173736574)\n"))
        #expect(inside.output.contains("3d1a10b8bffac2ec"))
        #expect(!inside.output.contains("encrypted"))
    }

    @Test func `a device without HDCP is a warning, not a refusal`() async {
        await files.credentials()
        _ = await files.spc("--capability", "offline", "--capability", "invalidation")
        let run = await inspect("spc", "a.spc", "--credentials", folder.path("c"))
        #expect(run.status == .yes)
        #expect(run.json["capabilities"] as? [String] == ["offlineKey", "secureInvalidation"])
        #expect(problems(run) == ["warning hdcpNotEnforced"])
        let text = await RecordedRun("inspect", "spc", folder.path("a.spc"), "--credentials", folder.path("c"))
        #expect(text.output.contains("\nWarning: The device does not say that it can enforce HDCP."))
    }

    @Test func `values the device omits are left out`() async {
        await files.credentials()
        _ = await files.spc("--playback-state", "none", "--capability", "none")
        let run = await inspect("spc", "a.spc", "--credentials", folder.path("c"))
        #expect(run.status == .yes)
        #expect(run.json["playbackState"] == nil)
        #expect(run.json["capabilities"] as? [String] == [])
    }

    @Test func `an SPC that a server would refuse shows its facts and cause`() async {
        await files.credentials()
        await files.credentials("other")
        _ = await files.spc()
        let run = await inspect("spc", "a.spc", "--credentials", folder.path("other"))
        #expect(run.status == .no)
        #expect(run.json["version"] as? Int == 1)
        #expect(run.errorCode == "unknownCertificate")
        #expect(problems(run) == ["error unknownCertificate"])
        let text = await RecordedRun("inspect", "spc", folder.path("a.spc"), "--credentials", folder.path("other"))
        #expect(text.status == .no)
        #expect(text.output.contains("\nError: The SPC was made for the certificate"))
        #expect(text.error == "")
    }

    @Test func `a CKC shows its header`() async {
        await files.credentials()
        _ = await files.spc()
        _ = await files.ckc()
        let run = await inspect("ckc", "a.ckc")
        #expect(run.status == .yes)
        #expect(run.json["bytes"] as? Int == folder.contents("a.ckc")?.count)
        #expect((run.json["iv"] as? String)?.count == 32)
        let text = await RecordedRun("inspect", "ckc", folder.path("a.ckc"))
        #expect(text.output.contains("latchkey open-ckc"))
    }

    @Test func `a certificate should have its private key among the credentials`() async {
        await files.credentials()
        await files.credentials("other", bits: "2048")
        let (own, other) = (folder.path("c"), folder.path("other"))
        let alone = await inspect("certificate", "c/certificate.der")
        #expect(alone.json["isTestCertificate"] as? Bool == true)
        #expect(alone.json["bits"] as? Int == 1024)
        #expect(alone.json["matchesPrivateKey"] == nil)
        let both = await inspect("certificate", "c/certificate.der", "--credentials", other, "--credentials", own)
        #expect(both.json["matchesPrivateKey"] as? Bool == true)
        #expect(problems(both) == [])
        let wrong = await inspect("certificate", "c/certificate.der", "--credentials", other)
        #expect(wrong.status == .no)
        #expect(wrong.json["matchesPrivateKey"] as? Bool == false)
        #expect(wrong.errorCode == "privateKeyMismatch")
    }

    @Test(arguments: [
        ("spc", "spcIsPrivateKey"), ("ckc", "ckcIsPrivateKey"), ("certificate", "certificateIsPrivateKey"),
    ])
    func `a file of another kind is named`(kind: String, code: String) async {
        await files.credentials()
        let run = await inspect(kind, "c/private-key.pem")
        #expect(run.status == .no)
        #expect(run.errorCode == code)
        #expect(run.json["kind"] as? String == kind)
        let text = await RecordedRun("inspect", kind, folder.path("c/private-key.pem"))
        #expect(text.output.contains("(\(code))"))
        #expect(text.output.split(separator: "\n").first?.contains("version") == false)
    }

    @Test func `a missing file is its own failure`() async {
        let run = await inspect("ckc", "none")
        #expect(run.status == .no)
        #expect(run.errorCode == "cannotRead")
    }

    @Test func `an invalid kind is wrong usage`() async {
        let run = await RecordedRun("inspect", "certifcate", "x")
        #expect(run.status == .usage)
        #expect(run.error.contains("latchkey inspect certificate"))
    }
}
