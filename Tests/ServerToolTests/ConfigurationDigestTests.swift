import LatchkeyCore
import LatchkeyForms
import Testing

@testable import LatchkeyServer
@testable import LatchkeyServerTool
@testable import TestServers

/// The metric `latchkey_config_info`, by which an alert finds nodes that differ.
@Suite(.timeLimit(.minutes(1))) struct ConfigurationDigestTests {
    private let folder: ServerFolder

    init() throws { folder = try ServerFolder() }

    private func digests(_ key: String = "of all nodes") throws -> [String: String] {
        try ConfigurationFile(folder.configuration).digests(keyedBy: Secret(key))
    }

    @Test(
        arguments: [
            (["limits.perTenant": 7], ["limits"]), (["stores.sessionMilliseconds": 60], ["stores"]),
            (["tenants.demo.policy": "other", "trustedProxies": ["10.0.0.0/8"]], ["tenants", "trustedProxies"]),
            (
                [
                    "players.port": 9443, "health": ["port": 9446], "threads": 3, "stores.copyRows": 2_000,
                    "drainDelay": "1s",
                ], []
            ),
        ] as [([String: JSONValue?], [String])])
    func `a part's digest differs only where nodes must match`(
        _ changes: [String: JSONValue?], _ parts: [String]
    ) throws {
        let before = try digests()
        try folder.edit(changes)
        let after = try digests()
        #expect(Set(before.keys).union(after.keys).filter { before[$0] != after[$0] }.sorted() == parts)
    }

    @Test func `a changed key set changes one digest, and another node's secret changes all`() throws {
        let before = try digests()
        try folder.edit(["keys.0.kid": "of-last-month"], in: "jwks.json")
        let after = try digests()
        #expect(before.filter { after[$0.key] != $0.value }.map(\.key) == ["tenants"])
        let others = try digests("of one node")
        #expect(others.count == after.count && others.allSatisfy { after[$0.key] != $0.value })
    }

    @Test func `a node that generates its own secret has no digests, because they would never match`() async throws {
        let stage = try await TestServer(["nodeSecret": nil])
        #expect(try await !stage.operators("metrics").text.contains("latchkey_config_info{"))
        let shared = try await TestServer()
        #expect(try await shared.operators("metrics").text.contains(#"latchkey_config_info{part="tenants",digest=""#))
    }
}
