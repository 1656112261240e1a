import Foundation
import Testing

@testable import LatchkeyHTTP
@testable import LatchkeyLicensing
@testable import LatchkeyServer
@testable import LatchkeyServerTool
@testable import TestServers

/// The identity that a trusted proxy states.
@Suite(.timeLimit(.minutes(5))) struct ProxyIdentityTests {
    private static let ada = [
        "X-Forwarded-User": "ada", "X-Forwarded-Groups": "everybody, video-operators", "X-Latchkey-Console": "1",
    ]

    /// Asks a server that believes some addresses.
    private static func ask(
        believing addresses: JSONValue = ["127.0.0.1"], more: [String: JSONValue?] = [:], _ headers: [String: String],
        _ path: String = "me",
        key: Bool = false
    ) async throws -> (status: Int, json: JSONValue, audit: [String]) {
        let stage = try await TestServer(
            more.merging([
                "operators.identityProxy": [
                    "addresses": addresses,
                    "grants": [["value": "video-operators", "role": "operator", "tenants": ["demo"]]],
                ]
            ]) { $1 })
        let reply = try await stage.admin(path, key: key ? TestServer.key(.security) : nil, headers: headers)
        let entries = try await stage.server.shared.engines.audit.entries(from: 1, limit: 100)
        let events = entries.compactMap { JSONValue(Data($0.text.utf8)) }
        return (
            reply.status, reply.json,
            events.filter { $0["action"]?.text == "adminRefused" }.compactMap { $0["details"]?["code"]?.text }
        )
    }

    @Test func `the proxy's word counts, by the groups' grants`() async throws {
        let (status, me, audit) = try await Self.ask(Self.ada)
        #expect(status == 200 && audit == [])
        #expect(me["name"]?.text == "proxy:ada" && me["role"]?.text == "operator" && me["proof"]?.text == "proxy")
        #expect(me["tenants"] == .array([.text("demo")]) && me["allTenants"] == .flag(false))
    }

    @Test func `from any other address the header is refused and audited, even with a valid key`() async throws {
        for key in [false, true] {
            let (status, json, audit) = try await Self.ask(believing: ["192.0.2.1"], Self.ada, key: key)
            #expect(status == 403 && json["code"]?.text == "adminProxyHeader")
            #expect(audit == ["adminProxyHeader"])
        }
    }

    @Test func `the settings name the headers`() async throws {
        let more: [String: JSONValue?] = [
            "operators.identityProxy.userHeader": "X-Auth-User",
            "operators.identityProxy.groupsHeader": "X-Auth-Groups",
        ]
        let other = ["X-Auth-User": "ada", "X-Auth-Groups": "video-operators", "X-Latchkey-Console": "1"]
        #expect(try await Self.ask(more: more, other).json["name"]?.text == "proxy:ada")
        #expect(try await Self.ask(more: more, Self.ada).status == 401)
        #expect(try await Self.ask(other).status == 401)
    }

    @Test func `a key without the header counts as before`() async throws {
        let (status, me, _) = try await Self.ask([:], key: true)
        #expect(status == 200 && me["proof"]?.text == "key")
    }

    @Test(arguments: [
        (["X-Forwarded-User": ""], false, 400, "adminProxyWords"),
        (["X-Forwarded-User": String(repeating: "a", count: 300)], false, 400, "adminProxyWords"),
        (["X-Forwarded-Groups": "video-operators"], false, 400, "adminProxyWords"),
        (["X-Forwarded-User": "ada"], true, 400, "adminTwoIdentities"),
        (["X-Forwarded-User": "ada", "X-Forwarded-Groups": "video-operators"], false, 403, "adminCrossSite"),
        (["X-Forwarded-User": "ada", "X-Latchkey-Console": "1"], false, 403, "adminNoRole"),
        (
            ["X-Forwarded-User": "ada", "X-Forwarded-Groups": "video-operators-2", "X-Latchkey-Console": "1"], false,
            403, "adminNoRole"
        ),
    ])
    func `headers without one person and role are refused`(
        _ headers: [String: String], _ key: Bool, _ status: Int, _ code: String
    ) async throws {
        let answer = try await Self.ask(headers, key: key)
        #expect(answer.status == status && answer.json["code"]?.text == code)
    }

    @Test(arguments: [
        (#""addresses": ["0.0.0.0/0"]"#, "0.0.0.0/0 is far larger than a proxy needs"),
        (#""addresses": ["0.0.0.0/1", "128.0.0.0/1"]"#, "128.0.0.0/1 is far larger than a proxy needs"),
        (#""addresses": ["12.0.0.0/7"]"#, "is far larger than a proxy needs"),
        (#""addresses": ["2000::/3"]"#, "2000::/3 is far larger"),
        (#""addresses": ["f800::/5"]"#, "is far larger than a proxy needs"),
        (#""addresses": ["::/0"]"#, "::/0 is far larger"),
        (#""addresses": []"#, "lists no address"),
        (
            #""addresses": ["127.0.0.1"], "grants": [{"value":"a","tenants":["none"]}]"#,
            "The tenant “none” does not exist"
        ),
    ])
    func `settings that let anyone, or no one, sign in are refused`(
        _ members: String, _ words: String
    ) async throws {
        let grants = members.contains("grants") ? members : members + #", "grants": []"#
        let text = #"{"version":1,"operators":{"identityProxy":{\#(grants)}}}"#
        let (_, problems) = try ServerSettings.whatFits(of: Data(text.utf8))
        #expect(problems.contains { $0.what.contains(words) }, "\(problems)")
    }

    @Test(arguments: ["10.0.0.0/8", "192.0.2.1", "fc00::/7", "fd00::/8", "2001:d00::/24", "::1"])
    func `a proxy may be in a private network`(_ addresses: String) throws {
        let text = #"{"version":1,"operators":{"identityProxy":{"addresses":["\#(addresses)"],"grants":[]}}}"#
        let (_, problems) = try ServerSettings.whatFits(of: Data(text.utf8))
        #expect(!problems.contains { $0.place.contains("identityProxy") }, "\(problems)")
    }

    @Test func `a provider and a proxy exclude each other`() throws {
        let openID =
            #""openID":{"issuer":"https://a.example","clientID":"a","redirectBase":"https://b.example","grants":[]}"#
        let text = #"{"version":1,"operators":{\#(openID),"identityProxy":{"addresses":["127.0.0.1"],"grants":[]}}}"#
        let (_, problems) = try ServerSettings.whatFits(of: Data(text.utf8))
        #expect(problems.map(\.place) == ["operators.identityProxy"])
    }
}
