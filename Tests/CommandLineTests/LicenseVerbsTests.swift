import Foundation
import Testing

@testable import LatchkeyCommandLine

/// `spc`, `ckc`, `open-ckc` and `inspect`, from one to the other through files.
@Suite struct LicenseVerbsTests {
    private static let key = "00112233445566778899aabbccddeeff"
    private static let iv = "f0e0d0c0b0a090807060504030201000"
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func credentials(_ name: String = "c", bits: String = "1024") async {
        _ = await RecordedRun("credentials", "--out", folder.file(name), "--bits", bits)
    }

    private func spc(_ words: String..., id: String = "my-asset", name: String = "a") async -> RecordedRun {
        await RecordedRun(
            [
                "spc", "--credentials", folder.file("c"), "--content-id", id, "--out", folder.file("\(name).spc"),
                "--state", folder.file("\(name).state"), "--json",
            ] + words, tool: .standard)
    }

    private func ckc(_ words: [String] = [], from: String = "a.spc", by credentials: [String] = ["c"]) async
        -> RecordedRun
    {
        await RecordedRun(
            ["ckc"] + credentials.flatMap { ["--credentials", folder.file($0)] } + [
                "--key", Self.key, "--iv", Self.iv, "--out", folder.file("a.ckc"), "--json",
            ] + words + [folder.file(from)], tool: .standard)
    }

    private func open(_ name: String = "a") async -> RecordedRun {
        await RecordedRun("open-ckc", "--state", folder.file("\(name).state"), "--json", folder.file("a.ckc"))
    }

    @Test(arguments: ["1024", "2048"])
    func `a key travels from the server to the device`(bits: String) async {
        await credentials(bits: bits)
        let spc = await spc()
        #expect(spc.status == .yes)
        #expect(spc.json["contentID"] as? String == "my-asset")
        #expect(folder.mode("a.state") == 0o600)
        let ckc = await ckc()
        #expect(ckc.status == .yes)
        #expect(ckc.json["assetID"] as? String == "my-asset")
        let opened = await open()
        #expect(opened.status == .yes)
        #expect(opened.json["contentKey"] as? String == Self.key)
        #expect(opened.json["contentIV"] as? String == Self.iv)
        #expect((opened.json["terms"] as? [String: Any])?["kind"] as? String == "unlimited")
        #expect(folder.names == ["a.ckc", "a.spc", "a.state", "c"])
    }

    @Test(arguments: [
        (["--lease", "60"], "lease"), (["--rental", "60"], "rental"),
        (["--lease", "60", "--rental", "90"], "leaseAndRental"), (["--persist", "0"], "persistent"),
        (["--persist", "60"], "persistentFor"), (["--persist", "60", "--rental", "9"], "dualExpiry"),
        (["--hdcp", "1"], "unlimited"),
    ])
    func `the device reads the terms that the server stated`(words: [String], kind: String) async throws {
        await credentials()
        _ = await spc()
        let ckc = await ckc(words)
        let terms = try #require(await open().json["terms"] as? [String: Any])
        #expect(terms["kind"] as? String == kind)
        let stated = try #require(ckc.json["terms"] as? [String: Any])
        #expect(NSDictionary(dictionary: terms) == NSDictionary(dictionary: stated))
    }

    @Test func `among several credentials the right one is taken`() async {
        await credentials("other")
        await credentials()
        _ = await spc()
        let ckc = await ckc(by: ["other", "c"])
        #expect(ckc.json["credentials"] as? String == folder.file("c"))
        #expect(await open().status == .yes)
    }

    @Test func `an SPC for another certificate is refused`() async {
        await credentials("other")
        await credentials()
        _ = await spc()
        let ckc = await ckc(by: ["other"])
        #expect(ckc.status == .no)
        #expect(ckc.errorCode == "unknownCertificate")
        #expect(folder.contents("a.ckc") == nil)
    }

    @Test func `a wrong derived key is an integrity failure and needs no ASk`() async throws {
        await credentials()
        _ = await spc()
        try FileManager.default.removeItem(atPath: folder.file("c/ask.hex"))
        let ckc = await ckc(["--dask", "d9f11e0d0e8e08bc875173eba62526e1"])
        #expect(ckc.status == .no)
        #expect(ckc.errorCode == "integrity")
        #expect(ckc.error == "")
    }

    @Test func `the test derivation says what it is`() async {
        await credentials()
        _ = await spc()
        #expect(await ckc().error.contains("not Apple's function"))
    }

    @Test func `a CKC for another SPC is not taken`() async {
        await credentials()
        _ = await spc()
        _ = await spc(name: "b")
        _ = await ckc()
        let opened = await open("b")
        #expect(opened.status == .no)
        #expect(opened.errorCode == "wrongSPC")
    }

    @Test(arguments: [
        (0, "malformedContainer"), (7, "malformedContainer"), (100, "malformedContainer"), (-1, "malformedContainer"),
    ])
    func `an SPC cut short is refused with its code`(length: Int, code: String) async throws {
        await credentials()
        _ = await spc()
        let spc = try #require(folder.contents("a.spc"))
        let cut = length < 0 ? spc.dropLast(-length) : spc.prefix(length)
        try cut.write(to: URL(fileURLWithPath: folder.file("cut.spc")))
        let ckc = await ckc(from: "cut.spc")
        #expect(ckc.status == .no)
        #expect(ckc.errorCode == code)
    }

    @Test func `an error page is no CKC and a CKC no state`() async throws {
        await credentials()
        _ = await spc()
        try Data("<html>nope</html>".utf8).write(to: URL(fileURLWithPath: folder.file("a.ckc")))
        #expect(await open().errorCode == "notACKC")
        _ = await ckc()
        let run = await RecordedRun("open-ckc", "--state", folder.file("a.ckc"), "--json", folder.file("a.ckc"))
        #expect(run.errorCode == "notAState")
        let missing = await RecordedRun("open-ckc", "--state", folder.file("none"), "--json", folder.file("a.ckc"))
        #expect(missing.errorCode == "cannotRead")
    }

    @Test func `the same seed gives the same SPC`() async throws {
        await credentials()
        _ = await spc("--seed", "7", "--playback-state", "none")
        _ = await spc("--seed", "7", "--playback-state", "none", name: "b")
        _ = await spc("--seed", "8", "--playback-state", "none", name: "other")
        #expect(folder.contents("a.spc") == folder.contents("b.spc"))
        #expect(folder.contents("a.spc") != folder.contents("other.spc"))
    }

    @Test(arguments: ["", "x", String(repeating: "x", count: 201)])
    func `a content identifier of a wrong length is refused as a device does`(id: String) async {
        await credentials()
        let run = await spc(id: id)
        #expect(run.status == .no)
        #expect(run.errorCode?.hasPrefix("contentIdentifier") == true)
    }

    @Test func `files pass through pipes`() async throws {
        await credentials()
        let made = await RecordedRun(
            "spc", "--credentials", folder.file("c"), "--content-id", "my-asset", "--out", folder.file("a.spc"),
            "--state", folder.file("a.state"))
        #expect(made.output.hasPrefix("SPC of "))
        let spc = try #require(folder.contents("a.spc"))
        let ckc = await RecordedRun(
            "ckc", "--credentials", folder.file("c"), "--key", Self.key, "--iv", Self.iv, "--out", folder.file("a.ckc"),
            "-", input: spc)
        #expect(ckc.output == "CKC of \(folder.contents("a.ckc")?.count ?? 0) bytes for my-asset: no limit\n")
        let opened = await RecordedRun(
            "open-ckc", "--state", folder.file("a.state"), "-", input: folder.contents("a.ckc") ?? Data())
        #expect(opened.output.contains("Content key  \(Self.key)"))
    }

    @Test(arguments: [["spc", "--content-id", "x", "--state", "s"], ["ckc", "x.spc", "--key", key, "--iv", iv]])
    func `JSON and a file cannot both go to standard output`(words: [String]) async {
        let run = await RecordedRun(words + ["--credentials", folder.path, "--out", "-", "--json"], tool: .standard)
        #expect(run.status == .usage)
        #expect(run.error.contains("standard output"))
    }

    @Test func `an SPC shows its outside, and its inside to the server`() async throws {
        await credentials()
        _ = await spc("--playback-state", "renewal", "--shown-on", "airplay", "--session", "00000000000000ff")
        let outside = await RecordedRun("inspect", "spc", folder.file("a.spc"), "--json")
        #expect(outside.json["version"] as? Int == 1)
        #expect(outside.json["assetID"] == nil)
        let inside = await RecordedRun(
            "inspect", "spc", folder.file("a.spc"), "--json", "--credentials", folder.file("c"))
        #expect(inside.json["assetID"] as? String == "my-asset")
        #expect(inside.json["playbackState"] as? String == "lease expiring")
        #expect(inside.json["playbackSession"] as? String == "00000000000000ff")
        #expect(inside.json["destination"] as? String == "airPlay")
        #expect(inside.json["capabilities"] as? [String] == ["HDCP enforcement"])
        #expect(inside.json["certificateSHA1"] as? String == outside.json["certificateSHA1"] as? String)
        let text = await RecordedRun("inspect", "spc", folder.file("a.spc"), "--credentials", folder.file("c"))
        #expect(text.output.contains("my-asset"))
        #expect(text.output.contains("3d1a10b8bffac2ec"))
    }

    @Test func `capabilities are those that are named`() async {
        await credentials()
        _ = await spc("--capability", "offline", "--capability", "invalidation")
        let run = await RecordedRun("inspect", "spc", folder.file("a.spc"), "--json", "--credentials", folder.file("c"))
        #expect(run.json["capabilities"] as? [String] == ["offline key", "secure invalidation"])
        #expect((run.json["warnings"] as? [String])?.count == 1)
    }

    @Test func `what the device leaves out is not stated`() async {
        await credentials()
        _ = await spc("--playback-state", "none", "--capability", "none")
        let run = await RecordedRun("inspect", "spc", folder.file("a.spc"), "--json", "--credentials", folder.file("c"))
        #expect(run.status == .yes)
        #expect(run.json["playbackState"] == nil)
        #expect(run.json["capabilities"] as? [String] == [])
    }

    @Test func `a CKC shows its outside`() async {
        await credentials()
        _ = await spc()
        _ = await ckc()
        let run = await RecordedRun("inspect", "ckc", folder.file("a.ckc"), "--json")
        #expect(run.status == .yes)
        #expect(run.json["bytes"] as? Int == folder.contents("a.ckc")?.count)
    }

    @Test func `a certificate is compared with credentials`() async {
        await credentials()
        await credentials("other", bits: "2048")
        let der = folder.file("c/certificate.der")
        let own = await RecordedRun("inspect", "certificate", der, "--json", "--credentials", folder.file("c"))
        #expect(own.json["matchesCredentials"] as? Bool == true)
        #expect(own.json["isTestCertificate"] as? Bool == true)
        let other = await RecordedRun("inspect", "certificate", der, "--json", "--credentials", folder.file("other"))
        #expect(other.json["matchesCredentials"] as? Bool == false)
        #expect((other.json["warnings"] as? [String])?.count == 1)
    }

    @Test(arguments: [
        ("spc", "unsupportedVersion"), ("ckc", "notACKC"), ("certificate", "certificateIsPEM"),
    ])
    func `a file of another kind is named`(kind: String, code: String) async {
        await credentials()
        let run = await RecordedRun("inspect", kind, folder.file("c/private-key.pem"), "--json")
        #expect(run.status == .no)
        #expect(run.errorCode == code)
    }

    @Test func `an unknown kind is wrong usage`() async {
        let run = await RecordedRun("inspect", "certifcate", "x")
        #expect(run.status == .usage)
        #expect(run.error.contains("latchkey inspect certificate"))
    }
}
