import Foundation
import LatchkeyCore
import Testing

@testable import LatchkeyForms
@testable import LatchkeyLicensees
@testable import LatchkeyLicensing
@testable import LatchkeyPackaging

@Suite(.timeLimit(.minutes(1)))
struct ServerSettingsTests {
    private static let whole = """
        {"version":1,"players":{"address":"0.0.0.0","port":443,"certificate":"chain.pem","privateKey":"key.pem"},
         "stores":{"sessions":"redis://r","keys":"postgresql://p/x","audit":"postgresql://p/x","sessionMilliseconds":80},
         "keyEncryptionKey":{"id":"2026","file":"kek"},"nodeSecret":{"variable":"LATCHKEY_NODE"},
         "licensee":{"credentials":[{"folder":"fps"}],"derivation":"libours.so"},"policies":"policies",
         "tenants":{"acme":{"policy":"live","keyURI":"skd://k/{kid}","tokens":{"keys":"https://t/jwks","audiences":["acme"]},
           "signers":{"shaka":{"key":"shaka.hex","iv":"00112233445566778899aabbccddeeff"}},"origins":["https://www.acme.tv"]}},
         "admins":[{"name":"ops","key":"\(String(repeating: "ab", count: 32))","role":"operator"}],
         "trustedProxies":["10.0.0.0/8"],"countryHeader":"CF-IPCountry","drainDelay":"7s","threads":4}
        """

    @Test func `a configuration is read as written`() throws {
        let settings = try ServerSettings(json: Data(Self.whole.utf8))
        #expect(settings.players.port == 443)
        #expect(settings.packagers.port == 8_444)
        #expect(settings.stores.keys == "postgresql://p/x" && settings.stores.sessionMilliseconds == 80)
        #expect(settings.keyEncryptionKey?.file == "kek")
        #expect(settings.nodeSecret?.variable == "LATCHKEY_NODE")
        #expect(settings.licensee.derivation == "libours.so")
        #expect(settings.drainDelay == .seconds(7))
        #expect(settings.admins.first?.role == .operator)
        let tenant = try #require(settings.tenants["acme"])
        #expect(tenant.keyURI.text == "skd://k/{kid}")
        #expect(tenant.tokens.audiences == ["acme"])
        #expect(tenant.signers["shaka"]?.key == "shaka.hex")
        #expect(tenant.allowsClearKey == false)
    }

    @Test func `settings survive writing and reading`() throws {
        let settings = try ServerSettings(json: Data(Self.whole.utf8))
        #expect(try ServerSettings(json: settings.canonicalJSON) == settings)
    }

    @Test func `missing members have their defaults, and are not written`() throws {
        let text = """
            {"licensee":{"credentials":[]},\
            "tenants":{"a":{"callout":{"url":"https://c.example/"},"tokens":{"keys":"k"}}},"version":1}
            """
        let settings = try ServerSettings(json: Data(text.utf8))
        #expect(String(decoding: settings.canonicalJSON, as: UTF8.self) == text)
        #expect(settings.drainDelay == .seconds(5) && settings.stores.sessionMilliseconds == 50)
        #expect(settings.stores.copyRows == 200_000)
        #expect(settings.limits.perAddress == 1_000 && settings.limits.perTenant == 0)
        let ports = [settings.players.port, settings.packagers.port, settings.operators.port]
        #expect(ports == [8_443, 8_444, 8_445])
        let tenant = try #require(settings.tenants["a"])
        #expect(tenant.tokens.refresh == .seconds(300) && tenant.tokens.leeway == .seconds(30))
        #expect(tenant.tokens.longestLife == .seconds(600))
        #expect(tenant.callout?.timeout == .seconds(1) && tenant.callout?.memory == .seconds(5))
    }

    @Test func `every problem has its place`() throws {
        let json = """
            {"version":2,"players":{"certificate":"chain.pem"},"keyEncryptionKey":{"id":"x"},"polices":"p",
             "tenants":{"a c":{},"acme":{"keyURI":"skd://nothing","packagers":[{"name":"e"}],"keys":"magic"}},
             "admins":[{"name":"ops","key":"hunter2"}]}
            """
        let error = #expect(throws: JSONProblems.self) { try ServerSettings(json: Data(json.utf8)) }
        let places = Set((error?.problems ?? []).map { "\($0.place)" })
        for place in [
            "version", "players", "keyEncryptionKey", "polices", "tenants.acme.keyURI", "tenants.acme.packagers[0]",
            "tenants.acme.keys", "admins[0].key",
        ] {
            #expect(places.contains(place), "\(place) is not among \(places.sorted())")
        }
        #expect(error?.reason.contains("hunter2") == false)
    }

    private static let (one, two) = (String(repeating: "ab", count: 32), String(repeating: "cd", count: 32))

    @Test(arguments: [
        (
            #""packagers":[{"name":"a","apiKey":"\#(one)"},{"name":"b","apiKey":"\#(one.uppercased())"}]"#,
            "packagers[1].apiKey"
        ),
        (#""packagers":[{"name":"a","basic":"\#(one)"},{"name":"a","basic":"\#(one)"}]"#, "packagers[1].basic"),
        (
            #""packagers":[{"name":"a","apiKey":"\#(one)"},{"name":"a","apiKey":"\#(two)","rights":["keys:import"]}]"#,
            "packagers[1].rights"
        ),
        (
            #""packagers":[{"name":"a","apiKey":"\#(one)","rights":["keys:import","keys:import"]}]"#,
            "packagers[0].rights[1]"
        ),
        (#""recipients":["\#(one)","\#(one)"]"#, "recipients[1]"),
        (#""origins":["https://a","https://b","https://a"]"#, "origins[2]"),
        (#""tokens":{"algorithms":["EdDSA","Ed25519"]}"#, "tokens.algorithms[1]"),
        (#""tokens":{"audiences":["x","x"]}"#, "tokens.audiences[1]"),
        (
            #""importRecipients":[{"certificate":"a","key":"b"},{"certificate":"a","key":"c"}]"#, "importRecipients[1]"
        ),
    ])
    func `a duplicate in a tenant is a problem with its place`(_ member: String, _ place: String) {
        let json = #"{"version":1,"tenants":{"acme":{\#(member)}}}"#
        let error = #expect(throws: JSONProblems.self) { try ServerSettings(json: Data(json.utf8)) }
        #expect(error?.problems.map(\.place) == ["tenants.acme.\(place)"])
    }

    @Test(arguments: [
        (#""admins":[{"name":"a","key":"\#(one)"},{"name":"b","key":"\#(one)"}]"#, "admins[1].key"),
        (#""admins":[{"name":"a","key":"\#(one)"},{"name":"a","key":"\#(two)","role":"security"}]"#, "admins[1].role"),
        (#""trustedProxies":["10.0.0.0/8","10.0.0.0/8"]"#, "trustedProxies[1]"),
        (
            #""keyEncryptionKey":{"id":"k","file":"a"},"formerKeyEncryptionKey":{"id":"k","file":"b"}"#,
            "formerKeyEncryptionKey.id"
        ),
    ])
    func `a duplicate in a server is a problem with its place`(_ member: String, _ place: String) {
        let error = #expect(throws: JSONProblems.self) {
            try ServerSettings(json: Data("{\"version\":1,\(member)}".utf8))
        }
        #expect(error?.problems.map(\.place) == [place])
    }

    @Test func `while a key changes its caller has two entries, and tenants may share a key`() throws {
        let json = """
            {"version":1,"tenants":{
              "a":{"packagers":[{"name":"e","apiKey":"\(Self.one)"},{"name":"e","apiKey":"\(Self.two)"}]},
              "b":{"packagers":[{"name":"other","apiKey":"\(Self.one)","basic":"\(Self.one)","rights":["keys:import"]}]}},
             "admins":[{"name":"ops","key":"\(Self.one)"},{"name":"ops","key":"\(Self.two)"}]}
            """
        let settings = try ServerSettings(json: Data(json.utf8))
        #expect(settings.tenants["b"]?.packagers.first?.credentials.map(\.kind) == [.apiKey, .bearer, .basic])
        #expect(try ServerSettings(json: settings.canonicalJSON) == settings)
    }

    @Test func `an unknown word is quoted, and a possible secret is not`() throws {
        let json = """
            {"version":1,"admins":[{"name":"ops","key":"hunter2","role":"chief"}],"threads":70000,"tenants":[]}
            """
        let error = #expect(throws: JSONProblems.self) { try ServerSettings(json: Data(json.utf8)) }
        let texts = Dictionary(
            uniqueKeysWithValues: (error?.problems ?? []).map { ($0.place, "\($0.what) \($0.remedy)") })
        #expect(
            texts["admins[0].role"]
                == "“chief” is not an allowed value. Write one of viewer, operator, security.")
        #expect(
            texts["admins[0].key"]
                == "This text of 7 characters does not fit. Write 64 hexadecimal digits.")
        #expect(texts["threads"] == "This is the number 70000. Write a whole number from 1 to 1024.")
        #expect(texts["tenants"] == "This is a list. Write members in braces.")
    }

    @Test func `a role may do what lower ones may`() {
        #expect(AdminRole.viewer < .operator)
        #expect(AdminRole.operator < .security)
    }
}
