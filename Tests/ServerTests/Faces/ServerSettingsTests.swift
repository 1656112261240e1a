import Foundation
import LatchkeyCore
import Testing

@testable import LatchkeyServer

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

    @Test func `a configuration says what it was written with`() throws {
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

    @Test func `what was read is written so that it reads the same`() throws {
        let settings = try ServerSettings(json: Data(Self.whole.utf8))
        #expect(try ServerSettings(json: settings.canonicalJSON) == settings)
    }

    @Test func `every problem is told, by its place`() throws {
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

    @Test func `a role may do what those before it may`() {
        #expect(AdminRole.viewer < .operator)
        #expect(AdminRole.operator < .security)
    }
}
