import BuiltLibrary
import Foundation
import LatchkeyCore
import LatchkeyDevice
import LatchkeyFairPlay
import LatchkeyTesting
import Testing

@testable import LatchkeyForms
@testable import LatchkeyLicensees

@Suite(.timeLimit(.minutes(5))) struct LicenseeSetupTests {
    private let folder: TemporaryFolder
    private let stage = LicenseeStage.small
    private let date = Date(timeIntervalSince1970: 1_800_000_000)

    init() throws {
        folder = try TemporaryFolder()
        try stage.credentials.write(to: folder.file("small"))
        try LicenseeStage.large.credentials.write(to: folder.file("large"))
    }

    private func configuration(_ folders: String...) -> LicenseeConfiguration {
        var configuration = LicenseeConfiguration()
        configuration.credentials = folders.map {
            var credential = LicenseeConfiguration.Credential()
            credential.folder = $0
            return credential
        }
        return configuration
    }

    private func setup(
        _ configuration: LicenseeConfiguration, plug: LicenseeSetup.Plug? = nil, at date: Date? = nil,
        environment: [String: String] = [:]
    ) throws(LicenseeError) -> LicenseeSetup {
        try LicenseeSetup(
            configuration, plug: plug, folder: folder.url, at: date ?? self.date, environment: environment)
    }

    /// Places and codes of the problems.
    private func problems(_ configuration: LicenseeConfiguration, plug: LicenseeSetup.Plug? = nil) -> [String] {
        let error = #expect(throws: LicenseeError.self) { try setup(configuration, plug: plug) }
        return error?.problems.map { "\($0.place) \($0.code)" } ?? []
    }

    // MARK: - Credentials

    @Test func `without a derivation the server says that it serves test credentials only`() throws {
        let setup = try setup(configuration("small", "large"))
        #expect(setup.servesTestCredentialsOnly)
        #expect(setup.notices == [LicenseeSetup.testOnlyNotice])
        #expect(setup.credentials.map(\.rsaBits) == [1024, 2048])
        try stage.expectLicense(from: setup.module)
        try LicenseeStage.large.expectLicense(from: setup.module)
    }

    @Test func `a summary names the certificate's SHA-1 and no secret`() throws {
        let summary = try #require(try setup(configuration("small")).credentials.first)
        #expect(summary.sha1 == stage.credential.certificate.fingerprint.hexString)
        #expect(!summary.isInToken)
        let text = "\(summary)"
        #expect(text.contains("test certificate \(summary.sha1), RSA 1024"))
        #expect(text.contains("private key in memory"))
    }

    @Test func `every problem of every credential is reported`() throws {
        try FileManager.default.setAttributes([.posixPermissions: 0o640], ofItemAtPath: folder.path("small/ask.hex"))
        try FileManager.default.setAttributes(
            [.posixPermissions: 0o604], ofItemAtPath: folder.path("small/private-key.pem"))
        try folder.write("§", to: "broken/certificate.der")
        var stated = configuration("small", "none", "broken")
        stated.derivation = "none.so"
        stated.vectors = "none.json"
        let found = problems(stated)
        #expect(
            found == [
                "credentials[0].ask secretFileOpenToOthers", "credentials[0].key secretFileOpenToOthers",
                "credentials[1].certificate secretFileUnreadable", "credentials[1].key secretFileUnreadable",
                "credentials[2].certificate certificateNotDER", "credentials[2].key secretFileUnreadable",
                "derivation libraryMissing",
            ])
    }

    @Test func `a duplicate certificate, and a missing one, are problems`() {
        #expect(problems(configuration("small", "large", "small")) == ["credentials[2] credentialsTwice"])
        #expect(problems(configuration()) == ["credentials credentialsMissing"])
    }

    @Test func `a member overrides the folder's file`() throws {
        var stated = configuration("small")
        stated.credentials[0].key = "large/private-key.pem"
        #expect(problems(stated) == ["credentials[0].key privateKeyMismatch"])
        stated.credentials[0].certificate = folder.path("large/certificate.der")
        #expect(try setup(stated).credentials.map(\.rsaBits) == [2048])
    }

    @Test func `mounted secrets may be readable by others`() throws {
        for file in ["small/ask.hex", "small/private-key.pem"] {
            try FileManager.default.setAttributes([.posixPermissions: 0o444], ofItemAtPath: folder.path(file))
        }
        var stated = configuration("small")
        stated.secretMounts = ["small"]
        #expect(try setup(stated).credentials.count == 1)
    }

    @Test(arguments: [
        (-60, "0 hours ago"), (-7_200, "2 hours ago"), (-47 * 3_600, "47 hours ago"), (-172_800, "2 days ago"),
    ])
    func `an end counts hours before it counts days`(_ seconds: Int, _ words: String) {
        #expect(Duration.seconds(seconds).inDaysAgo == words)
    }

    /// Days since the beginning of ten years, which have 3,652.
    @Test(arguments: [
        (-1, 3_653, "is not valid yet"), (10, 3_642, ""), (3_641, 11, "expires in 11 days"),
        (3_651, 1, "expires in 1 day;"),
        (3_655, -3, "expired 3 days ago"),
    ])
    func `certificates say how many days are left, and are used anyway`(
        days: Int, left: Int, words: String
    ) throws {
        try TestCredentials.make(bits: 1_024, date: date).write(to: folder.file("dated"))
        let setup = try setup(configuration("dated"), at: date.addingTimeInterval(Double(days) * 86_400))
        #expect(setup.credentials.map(\.daysLeft) == [left])
        #expect(setup.notices.count == (words.isEmpty ? 1 : 2))
        #expect(setup.notices.last?.contains(words.isEmpty ? "only serves test credentials" : words) == true)
    }

    @Test func `a production certificate requires a derivation`() throws {
        try #require(FileManager.default.isExecutableFile(atPath: "/usr/bin/openssl"))
        try FileManager.default.createDirectory(at: folder.file("real"), withIntermediateDirectories: true)
        try Command.run(
            "/usr/bin/openssl",
            ["req", "-x509", "-newkey", "rsa:1024", "-nodes", "-subj", "/CN=Licensee", "-outform", "DER"]
                + ["-keyout", folder.path("real/private-key.pem"), "-out", folder.path("real/certificate.der")])
        #expect(problems(configuration("small", "real")) == ["credentials[1] derivationMissing"])
        #expect(try setup(configuration("real"), plug: tested).servesTestCredentialsOnly == false)
    }

    // MARK: - Derivations

    /// A derivation in Swift that brings its test along.
    private struct Tested: SelfTestingDerivation {
        var failure: Diagnosis?
        let hasSelfTest = true

        func selfTest() throws { if let failure { throw failure } }
        func derivedKey(r2: Secret, for credential: KeyServerCredential) throws -> Secret {
            try InsecureTestDerivation().derivedKey(r2: r2, for: credential)
        }
    }

    private var tested: LicenseeSetup.Plug { .init(derivation: Tested()) }

    @Test func `a derivation in Swift is used after its own test`() throws {
        let setup = try setup(configuration("small"), plug: tested)
        #expect(!setup.servesTestCredentialsOnly)
        #expect(setup.notices.isEmpty)
        try stage.expectLicense(from: setup.module)
        let failing = LicenseeSetup.Plug(
            derivation: Tested(failure: Diagnosis(code: "odd", reason: "R.", remedy: "R.")))
        #expect(problems(configuration("small"), plug: failing) == ["derivation odd"])
    }

    @Test func `a derivation without any test is refused`() {
        let plug = LicenseeSetup.Plug(derivation: InsecureTestDerivation())
        #expect(problems(configuration("small"), plug: plug) == ["vectors derivationUntested"])
    }

    @Test func `a derivation in Swift and one in a library exclude each other`() {
        var stated = configuration("small")
        stated.derivation = "any.so"
        #expect(problems(stated, plug: tested) == ["derivation derivationTwice"])
    }

    @Test(.enabled(if: BuiltLibrary.canBuild, "there is no C compiler"))
    func `a library is used after its self-test`() throws {
        let built = try BuiltLibrary.derivation("WITH_OPENER")
        var stated = configuration("small")
        stated.derivation = built
        let setup = try setup(stated)
        #expect(!setup.servesTestCredentialsOnly)
        try stage.expectLicense(from: setup.module)
        try stage.expectLicense(from: setup.module, version: 3)
    }

    @Test(
        .enabled(if: BuiltLibrary.canBuild, "there is no C compiler"),
        arguments: [
            ("SELF_TEST_FAILS", "derivation librarySelfTestFailed"), ("NO_SELF_TEST", "vectors derivationUntested"),
            ("VERSION=9", "derivation libraryOtherVersion"),
        ])
    func `an untested or failed library blocks the start`(macro: String, problem: String) throws {
        let built = try BuiltLibrary.derivation(macro)
        var stated = configuration("small")
        stated.derivation = built
        #expect(problems(stated) == [problem])
    }

    // MARK: - Vectors

    private func vectors(_ text: String) throws -> LicenseeConfiguration {
        try folder.write(text, to: "vectors.json")
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: folder.path("vectors.json"))
        var stated = configuration("small")
        stated.vectors = "vectors.json"
        return stated
    }

    /// A vector of the test derivation: an ASk and an R2 of zeros.
    private func derivation(_ dask: String) -> String {
        let r2 = String(repeating: "00", count: 21)
        return #"{"derivations":[{"ask":"\#(String(repeating: "00", count: 16))","r2":"\#(r2)","dask":"\#(dask)"}]}"#
    }

    private let untested = LicenseeSetup.Plug(derivation: InsecureTestDerivation())

    @Test func `a derivation that matches the vectors is used, and another is refused`() throws {
        let right = try vectors(derivation("eb03868ac03000d6ded82bfe4832c652"))
        #expect(try setup(right, plug: untested).servesTestCredentialsOnly == false)
        let wrong = try vectors(derivation("eb03868ac03000d6ded82bfe4832c653"))
        #expect(problems(wrong, plug: untested) == ["vectors vectorFailed"])
    }

    @Test func `a licensee's own SPC is a vector too`() throws {
        let stated = try vectors(#"{"exchanges":[{"spc":"sample.spc","credentials":"small"}]}"#)
        try stage.exchange().spc.revealed.write(to: folder.file("sample.spc"))
        #expect(try setup(stated, plug: untested).credentials.count == 1)
        let wrong = LicenseeSetup.Plug(derivation: try FixedDerivation(dask: Secret([UInt8](repeating: 0, count: 16))))
        #expect(problems(stated, plug: wrong) == ["vectors vectorFailed"])
        try FileManager.default.removeItem(at: folder.file("sample.spc"))
        #expect(problems(stated, plug: untested) == ["vectors secretFileUnreadable"])
    }

    @Test(arguments: ["{}", "[]", "no JSON", #"{"derivations":[{"r2":"00","dask":"00"}]}"#, #"{"odd":1}"#])
    func `unreadable vectors are refused`(text: String) throws {
        #expect(problems(try vectors(text), plug: untested) == ["vectors vectorsInvalid"])
    }

    @Test func `vectors that others can read are refused, as they hold a secret`() throws {
        let stated = try vectors("{}")
        try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: folder.path("vectors.json"))
        #expect(problems(stated, plug: untested) == ["vectors secretFileOpenToOthers"])
    }

    // MARK: - Tokens

    private func inToken(_ key: String) throws -> LicenseeConfiguration {
        var stated = configuration("small")
        stated.credentials[0].key = try SoftHSM.address(.license, key)
        return stated
    }

    @Test(.enabled(if: SoftHSM.isThere, Comment(rawValue: SoftHSM.whyNot)))
    func `a private key in a token is used with a PIN from a file or the environment`() throws {
        var stated = try inToken("object=small")
        stated.credentials[0].pinVariable = "TOKEN_PIN"
        let byVariable = try setup(stated, environment: ["TOKEN_PIN": "1234"])
        #expect(byVariable.credentials.map(\.isInToken) == [true])
        try stage.expectLicense(from: byVariable.module)
        stated.credentials[0].pinVariable = nil
        stated.credentials[0].pinFile = "pin"
        try folder.write("1234\n", to: "pin")
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: folder.path("pin"))
        try stage.expectLicense(from: setup(stated).module)
    }

    @Test(.enabled(if: SoftHSM.isThere, Comment(rawValue: SoftHSM.whyNot)))
    func `a token without a PIN, or without its key, is a problem`() throws {
        var stated = try inToken("object=small")
        #expect(problems(stated) == ["credentials[0].key pkcs11PINMissing"])
        stated.credentials[0].pinVariable = "LATCHKEY_NO_SUCH_VARIABLE"
        #expect(problems(stated) == ["credentials[0].key pkcs11PINMissing"])
        stated.credentials[0].key = "pkcs11:token=a"
        #expect(problems(stated) == ["credentials[0].key pkcs11AddressInvalid"])
    }

    // MARK: - JSON

    @Test func `a configuration is read from JSON, with every problem by its place`() throws {
        let json = #"""
            {"credentials": [{"folder": "a"}, {"certificate": "c.der", "key": "pkcs11:token=t", "ask": "x", "pinFile": "p"}],
             "derivation": "libacme.so", "vectors": "v.json", "secretMounts": ["/run/secrets"]}
            """#
        let read = try LicenseeConfiguration.form.decode(Array(json.utf8), code: "test")
        #expect(read.credentials.map(\.folder) == ["a", nil])
        #expect(read.credentials.last?.pinFile == "p")
        #expect(read.derivation == "libacme.so")
        let wrong = #"{"credentials": [{"ask": "x"}, {"certificate": "c"}, {"folder": ""}], "derivations": 1}"#
        let error = #expect(throws: JSONProblems.self) {
            try LicenseeConfiguration.form.decode(Array(wrong.utf8), code: "test")
        }
        #expect(
            error?.problems.map(\.place) == [
                "credentials[0]", "credentials[1]", "credentials[2].folder", "credentials[2]", "derivations",
            ])
    }
}
