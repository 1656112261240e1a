import Foundation
import LatchkeyForms
import LatchkeyVendorWire
import Testing

@testable import LatchkeyLicensing
@testable import LatchkeyServerTool
@testable import TestServers

/// Each member of a configuration does something: a running server answers otherwise with it than without it.
///
/// The members are those of the settings' own forms, so that a new one fails here until it has a case, or names the test that guards it.
@Suite(.timeLimit(.minutes(5))) struct SettingTests {
    private static let cases = SettingCase.server + SettingCase.tenants + SettingCase.record

    /// Members that other suites guard, by the suite and the place.
    private static let elsewhere: [(suites: String, place: String, names: [String])] = [
        ("LicenseServerTests", "stores.", ["sessionMilliseconds"]),
        ("ServerLifeTests", "", ["drainDelay"]),
        ("ServerRecordTests", "record.", ["whenFull", "days"]),
        ("LicenseeSetupTests", "licensee.", ["vectors", "credentials[].pinFile", "credentials[].pinVariable"]),
        ("LicenseeModuleTests", "licensee.module.", ["credentials", "library", "milliseconds", "program", "workers"]),
        (
            "LicenseeSetupTests, TenantCredentialTests", "tenants.*.licensee.",
            ["vectors", "credentials[].pinFile", "credentials[].pinVariable"]
        ),
        (
            "LicenseeModuleTests", "tenants.*.licensee.module.",
            [
                "credentials", "library", "members", "milliseconds", "program", "selfTest.assetID", "selfTest.spc",
                "workers",
            ]
        ),
        ("HealthListenerTests", "health.", ["address", "port"]),
        ("KeyEncryptionKeySourceTests", "keyEncryptionKey.", ["pinFile", "pinVariable"]),
        ("KeyEncryptionKeySourceTests", "formerKeyEncryptionKey.", ["pinFile", "pinVariable"]),
        ("KeyEncryptionKeySourceTests", "nextKeyEncryptionKey.", ["pinFile", "pinVariable"]),
        ("KeyEncryptionKeySourceTests", "nodeSecret.", ["pinFile", "pinVariable"]),
        (
            "SignOnTests, HostileProviderTests", "operators.openID.",
            [
                "issuer", "clientID", "clientSecretFile", "redirectBase", "scopes", "claim", "algorithms",
                "authorities", "sessionLife", "grants[].value", "grants[].role", "grants[].tenants",
            ]
        ),
        (
            "ProxyIdentityTests", "operators.identityProxy.",
            ["addresses", "userHeader", "groupsHeader", "grants[].value", "grants[].role", "grants[].tenants"]
        ),
        (
            "VendorAPITests, VendorAPISettingTests", "tenants.*.vendors.",
            [
                "vudrm.secret", "vudrm.client", "vudrm.tokenLife", "vudrm.singleUse", "axinom.keyId", "axinom.key",
                "doverunner.accessKey", "doverunner.siteKey", "doverunner.site", "doverunner.tokenLife",
                "doverunner.singleUse", "drmtoday.key", "drmtoday.merchant", "drmtoday.tokenLife", "drmtoday.singleUse",
            ]
        ),
        (
            "TenantTokenAPITests", "tenants.*.vendors.",
            VendorAPIKind.all.filter(\.takesTenantTokens).map(\.name.rawValue)
        ),
    ]

    /// Members without an effect on answers, and why.
    private static let inert = [
        "nodeSecret.id": "the form of a key's source is one for all, and nothing is stored under this key's name"
    ]

    @Test(
        arguments: [
            ["keyServer.nothing": nil], ["tenants.nobody.slots": nil], ["stores.sessionMilliseconds": 10_000],
            ["limits.perTenant": 1, "tenants.demo.nothing": nil],
        ] as [[String: JSONValue?]])
    func `an edit that changes nothing fails its test`(_ changes: [String: JSONValue?]) throws {
        let folder = try ServerFolder()
        #expect(throws: NothingChanged.self) { try folder.edit(changes) }
        #expect(throws: NothingChanged.self) { try folder.replace("no such text", "another") }
    }

    @Test(arguments: cases)
    func `each member changes a running server's answer`(_ one: SettingCase) async throws {
        #expect(one.without != one.expected)
        let without = try await one.answer(one.base)
        #expect(without == one.without)
        let with = try await one.answer(one.base.merging(one.with) { $1 })
        #expect(with == one.expected)
    }

    @Test func `every member of the settings' forms has a case, and no case has a removed member`() {
        let members = ServerSettings.memberPaths
        #expect(members.count == Set(members).count)
        let elsewhere = Self.elsewhere.flatMap { row in row.names.map { row.place + $0 } }
        let guarded = Set(Self.cases.map(\.path)).union(elsewhere).union(Self.inert.keys)
        #expect(Set(members).subtracting(guarded).sorted() == [], "Without a case.")
        #expect(guarded.subtracting(members).sorted() == [], "Of no member.")
    }
}
