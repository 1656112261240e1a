import Foundation
import LatchkeyTesting
import Testing

@testable import LatchkeyCommandLine
@testable import LatchkeyTerminal

/// `spc`, `ckc` and `open-ckc`, from one to the other through files.
@Suite(.timeLimit(.minutes(5))) struct LicenseVerbsTests {
    private let files: LicenseFiles
    private var folder: TemporaryFolder { files.folder }

    init() throws { files = try LicenseFiles() }

    private func open(_ name: String = "a") async -> RecordedRun {
        await RecordedRun("open-ckc", "--state", folder.path("\(name).state"), "--json", folder.path("a.ckc"))
    }

    @Test(arguments: ["1024", "2048"])
    func `a key travels from the server to the device`(bits: String) async {
        await files.credentials(bits: bits)
        let spc = await files.spc()
        #expect(spc.status == .yes)
        #expect(spc.json["contentID"] as? String == "my-asset")
        #expect(folder.mode("a.state") == 0o600)
        let ckc = await files.ckc()
        #expect(ckc.status == .yes)
        #expect(ckc.json["assetID"] as? String == "my-asset")
        let opened = await open()
        #expect(opened.status == .yes)
        #expect(opened.json["contentKey"] as? String == LicenseFiles.key)
        #expect(opened.json["contentIV"] as? String == LicenseFiles.iv)
        #expect((opened.json["terms"] as? [String: Any])?["kind"] as? String == "unlimited")
        #expect(folder.names == ["a.ckc", "a.spc", "a.state", "c"])
    }

    @Test(arguments: [
        (["--lease", "60"], "lease"), (["--rental", "60"], "rental"),
        (["--lease", "60", "--rental", "90"], "leaseAndRental"), (["--persist", "0"], "persistent"),
        (["--persist", "60"], "persistentFor"), (["--persist", "60", "--rental", "9"], "dualExpiry"),
        (["--hdcp", "1"], "unlimited"),
    ])
    func `the device reads the server's terms`(words: [String], kind: String) async throws {
        await files.credentials()
        _ = await files.spc()
        let ckc = await files.ckc(words)
        let terms = try #require(await open().json["terms"] as? [String: Any])
        #expect(terms["kind"] as? String == kind)
        let stated = try #require(ckc.json["terms"] as? [String: Any])
        #expect(NSDictionary(dictionary: terms) == NSDictionary(dictionary: stated))
    }

    @Test func `the right one of several credentials is used`() async {
        await files.credentials("other")
        await files.credentials()
        _ = await files.spc()
        let ckc = await files.ckc(by: ["other", "c"])
        #expect(ckc.json["credentials"] as? String == folder.path("c"))
        #expect(await open().status == .yes)
    }

    @Test func `an SPC for another certificate is refused`() async {
        await files.credentials("other")
        await files.credentials()
        _ = await files.spc()
        let ckc = await files.ckc(by: ["other"])
        #expect(ckc.status == .no)
        #expect(ckc.errorCode == "unknownCertificate")
        #expect(folder.contents("a.ckc") == nil)
    }

    @Test func `a wrong derived key is an integrity failure and needs no ASk`() async throws {
        await files.credentials()
        _ = await files.spc()
        try FileManager.default.removeItem(atPath: folder.path("c/ask.hex"))
        let ckc = await files.ckc(["--dask", "d9f11e0d0e8e08bc875173eba62526e1"])
        #expect(ckc.status == .no)
        #expect(ckc.errorCode == "integrity")
        #expect(ckc.error == "")
    }

    @Test func `the test derivation names itself`() async {
        await files.credentials()
        _ = await files.spc()
        #expect(await files.ckc().error.contains("not Apple's function"))
    }

    @Test func `a CKC for another SPC is refused`() async {
        await files.credentials()
        _ = await files.spc()
        _ = await files.spc(name: "b")
        _ = await files.ckc()
        let opened = await open("b")
        #expect(opened.status == .no)
        #expect(opened.errorCode == "wrongSPC")
    }

    @Test(arguments: [
        (0, "malformedContainer"), (7, "malformedContainer"), (100, "malformedContainer"), (-1, "malformedContainer"),
    ])
    func `a truncated SPC is refused with its code`(length: Int, code: String) async throws {
        await files.credentials()
        _ = await files.spc()
        let spc = try #require(folder.contents("a.spc"))
        let cut = length < 0 ? spc.dropLast(-length) : spc.prefix(length)
        try cut.write(to: folder.file("cut.spc"))
        let ckc = await files.ckc(from: "cut.spc")
        #expect(ckc.status == .no)
        #expect(ckc.errorCode == code)
    }

    @Test func `error pages are not CKCs, nor CKCs states`() async throws {
        await files.credentials()
        _ = await files.spc()
        try Data("<html>nope</html>".utf8).write(to: folder.file("a.ckc"))
        #expect(await open().errorCode == "notACKC")
        _ = await files.ckc()
        let run = await RecordedRun("open-ckc", "--state", folder.path("a.ckc"), "--json", folder.path("a.ckc"))
        #expect(run.errorCode == "notAState")
        let missing = await RecordedRun("open-ckc", "--state", folder.path("none"), "--json", folder.path("a.ckc"))
        #expect(missing.errorCode == "cannotRead")
    }

    @Test func `the same seed gives the same SPC`() async throws {
        await files.credentials()
        _ = await files.spc("--seed", "7", "--playback-state", "none")
        _ = await files.spc("--seed", "7", "--playback-state", "none", name: "b")
        _ = await files.spc("--seed", "8", "--playback-state", "none", name: "other")
        #expect(folder.contents("a.spc") == folder.contents("b.spc"))
        #expect(folder.contents("a.spc") != folder.contents("other.spc"))
    }

    @Test(arguments: ["", "x", String(repeating: "x", count: 201)])
    func `a content identifier of the wrong length is refused as on a device`(id: String) async {
        await files.credentials()
        let run = await files.spc(id: id)
        #expect(run.status == .no)
        #expect(run.errorCode?.hasPrefix("contentIdentifier") == true)
    }

    @Test func `files pass through pipes`() async throws {
        await files.credentials()
        let made = await RecordedRun(
            "spc", "--credentials", folder.path("c"), "--content-id", "my-asset", "--out", folder.path("a.spc"),
            "--state", folder.path("a.state"))
        #expect(made.output.hasPrefix("SPC of "))
        let spc = try #require(folder.contents("a.spc"))
        let ckc = await RecordedRun(
            "ckc", "--credentials", folder.path("c"), "--key", LicenseFiles.key, "--iv", LicenseFiles.iv, "--out",
            folder.path("a.ckc"),
            "-", input: spc)
        #expect(ckc.output == "CKC of \(folder.contents("a.ckc")?.count ?? 0) bytes for my-asset: no limit\n")
        let opened = await RecordedRun(
            "open-ckc", "--state", folder.path("a.state"), "-", input: folder.contents("a.ckc") ?? Data())
        #expect(opened.output.contains("Content key  \(LicenseFiles.key)"))
    }

    @Test(arguments: [
        ["spc", "--content-id", "x", "--state", "s"],
        ["ckc", "x.spc", "--key", LicenseFiles.key, "--iv", LicenseFiles.iv],
    ])
    func `JSON and a file cannot both go to standard output`(words: [String]) async {
        let run = await RecordedRun(
            words + ["--credentials", folder.url.path, "--out", "-", "--json"], tool: .standard)
        #expect(run.status == .usage)
        #expect(run.error.contains("standard output"))
    }
}
