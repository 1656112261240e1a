import Foundation
import Testing

@testable import LatchkeyLicensing
@testable import LatchkeyServerTool

/// Each member of a configuration does something: a running server answers otherwise with it than without it.
///
/// The members are those of the settings' own forms, so that a new one fails here until it has a case, or names the test that guards it.
@Suite(.timeLimit(.minutes(5))) struct SettingTests {
    private static let cases = SettingCase.server + SettingCase.tenants + SettingCase.record

    /// Members that tests of their own guard, with the test's file below `Tests` and its name.
    private static let elsewhere: [String: (file: String, test: String)] = {
        let sources = ["keyEncryptionKey", "formerKeyEncryptionKey", "nextKeyEncryptionKey", "nodeSecret"]
        let pin = (
            file: "LicenseesTests/LicenseeSetupTests.swift",
            test: "a private key in a token is used with a PIN from a file or the environment"
        )
        let wrapped = (
            file: "LicenseesTests/KeyEncryptionKeySourceTests.swift", test: "a key in a token opens the file"
        )
        let vendors = (
            file: "EndToEndTests/VendorAPITests.swift",
            test: "the client's profile gets the key by the tenant's policy"
        )
        let vendorSettings = (
            file: "ServerToolTests/Settings/VendorAPISettingTests.swift",
            test: "each member of a vendor's API does something"
        )
        var members = [
            "stores.sessionMilliseconds": (
                file: "ServerToolTests/LicenseServerTests.swift",
                test: "the store of sessions has the time that the configuration gives it"
            ),
            "record.whenFull": (
                file: "ServerToolTests/Record/ServerRecordTests.swift",
                test: "a spool that is full loses rows, or refuses licenses, as the settings say"
            ),
            "record.days": (
                file: "ServerToolTests/Record/ServerRecordTests.swift",
                test: "days that are older than the settings say are dropped"
            ),
            "record.streamLength": (
                file: "StoresTests/Record/RedisRecordStreamTests.swift",
                test: "with a length the oldest rows go, without one none does"
            ),
            "drainDelay": (
                file: "ServerToolTests/ServerLifeTests.swift",
                test: "a signal takes the node out of service, and after the delay it stops"
            ),
            "licensee.vectors": (
                file: "LicenseesTests/LicenseeSetupTests.swift",
                test: "a derivation that answers the vectors is used, and one that does not is refused"
            ), "licensee.credentials[].pinFile": pin, "licensee.credentials[].pinVariable": pin,
        ]
        for name in sources {
            members["\(name).pinFile"] = wrapped
            members["\(name).pinVariable"] = wrapped
        }
        for name in [
            "vudrm.secret", "axinom.keyId", "axinom.key", "doverunner.accessKey", "doverunner.siteKey",
            "drmtoday.key",
        ] { members["tenants.*.vendors.\(name)"] = vendors }
        for name in [
            "vudrm.client", "vudrm.tokenLife", "vudrm.singleUse", "doverunner.site",
            "drmtoday.merchant", "drmtoday.tokenLife", "drmtoday.singleUse",
        ] { members["tenants.*.vendors.\(name)"] = vendorSettings }
        members["tenants.*.vendors.doverunner.tokenLife"] = (vendors.file, "a token that is too old is refused")
        members["tenants.*.vendors.doverunner.singleUse"] = (
            vendors.file, "a token that was used is refused where it is for one use"
        )
        return members
    }()

    /// Members without an effect on answers, and why.
    private static let inert = [
        "nodeSecret.id": "the form of a key's source is one for all, and nothing is stored under this key's name"
    ]

    @Test(arguments: cases)
    func `a running server answers otherwise with the member than without it`(_ one: SettingCase) async throws {
        #expect(one.without != one.expected)
        let without = try await one.answer(one.base)
        #expect(without == one.without)
        let with = try await one.answer(one.base.merging(one.with) { $1 })
        #expect(with == one.expected)
    }

    @Test func `every member of the settings' forms has its case, and no case is of a member that is gone`() {
        let members = ServerSettings.memberPaths
        #expect(members.count == Set(members).count)
        let guarded = Set(Self.cases.map(\.path)).union(Self.elsewhere.keys).union(Self.inert.keys)
        #expect(Set(members).subtracting(guarded).sorted() == [], "Without a case.")
        #expect(guarded.subtracting(members).sorted() == [], "Of no member.")
    }

    @Test func `the tests of members that are guarded elsewhere are there`() throws {
        let tests = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../..").standardized
        for (member, place) in Self.elsewhere {
            let text = try String(contentsOf: tests.appending(path: place.file), encoding: .utf8)
            #expect(text.contains("func `\(place.test)`"), "\(member): \(place.file)")
        }
    }
}
