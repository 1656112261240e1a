import Foundation
import LatchkeyFairPlay
import Testing

@testable import LatchkeyLicensees
@testable import LatchkeyLicensing
@testable import LatchkeyServer
@testable import LatchkeyServerTool
@testable import TestServers

/// FairPlay credentials of a tenant, and its limits, on a running server.
@Suite(.timeLimit(.minutes(3))) struct TenantCredentialTests {
    private static func status(_ stage: TenantStage, _ certificate: String, _ owner: Owner) async throws -> Int {
        try await stage.player(
            "fairplay", body: stage.spc(certificate, owner), at: owner.name, bearer: owner.token()
        ).status
    }

    private static func rotate(_ stage: TenantStage, _ owner: Owner, _ folders: String...) async throws {
        let list = JSONValue.array(folders.map { ["folder": "\($0)-credentials"] })
        try await stage.stage.reload(["tenants.\(owner.name).licensee.credentials": list])
    }

    @Test func `reloads rotate one tenant's certificate, and another tenant's stays`() async throws {
        let stage = try await TenantStage()
        try await stage.live()
        let series = { (owner: String, certificate: String) in
            let sha1 = try #require(stage.certificates[certificate]).fingerprint.hexString
            return #"latchkey_credential_expiry_timestamp_seconds{tenant="\#(owner)",sha1="\#(sha1)"}"#
        }
        let metrics = { stage.server.shared.metrics.text(.prometheus) }
        #expect(try metrics().contains(series("amber", "amber")) && metrics().contains(series("bronze", "bronze")))
        #expect(try await Self.status(stage, "stranger", .amber) == 400)

        try await Self.rotate(stage, .amber, "stranger", "amber")
        for certificate in ["stranger", "amber"] {
            #expect(try await Self.status(stage, certificate, .amber) == 200)
            #expect(try await Self.status(stage, certificate, .bronze) == 400)
        }
        let certificate = try await stage.player("certificate", "GET", at: "amber")
        #expect(certificate.body == stage.certificates["stranger"]?.der)
        #expect(try metrics().contains(series("amber", "stranger")))
        let sha1 = try #require(stage.certificates["stranger"]).fingerprint.hexString
        let last = try await stage.server.shared.engines.audit.last()
        #expect(last?.text.contains("+amber/\(sha1)") == true, "\(last?.text ?? "")")

        try await Self.rotate(stage, .amber, "stranger")
        #expect(try await Self.status(stage, "amber", .amber) == 400)
        #expect(try await Self.status(stage, "bronze", .bronze) == 200)
        #expect(try !metrics().contains(series("amber", "amber")))

        // A faulty file changes nothing, and the error names its tenant.
        let error = await #expect(throws: ServerProblems.self) { try await Self.rotate(stage, .amber, "gone") }
        #expect(error?.reason.contains("tenants.amber.licensee.credentials[0].certificate") == true)
        #expect(try await Self.status(stage, "stranger", .amber) == 200)
    }

    @Test func `a certificate that two tenants share is a notice for global operators only`()
        async throws
    {
        let stage = try await TenantStage()
        let place = "tenants.bronze.licensee.credentials: "
        #expect(!stage.server.current.notices.contains { $0.text.hasPrefix(place) })
        try await Self.rotate(stage, .bronze, "bronze", "amber")
        let notice = try #require(stage.server.current.notices.first { $0.text.hasPrefix(place) })
        #expect(notice.tenant == nil && notice.text.contains("tenants.amber.licensee"))
        for one in StagedOperator.all {
            let overview = try await stage.admin("admin/v1/overview", by: one)
            #expect(overview.text.contains(place) == (one.owner == nil), "\(one.name)")
        }
        let check = try await ServerCheck(stage.stage.folder.configuration, derivation: nil)
        #expect(check.notices.contains { $0.hasPrefix(place) })
    }

    @Test func `a tenant without a derivation uses the server's, with its vectors`() throws {
        let folder = try TemporaryFolder()
        let json = #"""
            {"version":1,"licensee":{"credentials":[{"folder":"s"}],"derivation":"server.so","vectors":"server.json","secretMounts":["m"]},
             "tenants":{"none":{},"plain":{"licensee":{"credentials":[{"folder":"a"}]}},
              "tested":{"licensee":{"credentials":[{"folder":"a"}],"vectors":"own.json"}},
              "whole":{"licensee":{"credentials":[{"folder":"a"}],"derivation":"own.so","secretMounts":["n"]}}}}
            """#
        try folder.write(json, to: "server.json")
        let file = try ConfigurationFile(folder.path("server.json"))
        let own = file.settings.tenants.compactMapValues { file.licensee(of: $0) }
        #expect(own["none"] == nil)
        #expect(own["plain"]?.derivation == "server.so" && own["plain"]?.vectors == "server.json")
        #expect(own["tested"]?.derivation == "server.so" && own["tested"]?.vectors == "own.json")
        #expect(own["whole"]?.derivation == "own.so" && own["whole"]?.vectors == nil)
        #expect(own["whole"]?.secretMounts == ["n", "m"] && own["plain"]?.secretMounts == ["m"])
        #expect(Set(file.settings.files).isSuperset(of: ["s", "a"]), "A change of the files is seen.")
    }

    @Test func `a tenant near its limits is reported to its operators and the log, and nodes share its usage`()
        async throws
    {
        let more = #","limits":{"sessions":1,"keys":2,"licensesPerDay":5}"#
        let stage = try await TenantStage(more: more)
        for owner in Owner.both where owner == .amber {
            let document = owner.document(Array(1...2), of: "amber-film")
            #expect(try await stage.packager("cpix", "POST", body: document, at: "amber", by: owner).status == 200)
            for _ in 0..<2 { #expect(try await stage.play(owner, session: "amber-session").status == 200) }
        }
        await stage.server.exchangeUsage()
        for limit in ["sessions: 1 of 1", "keys: 2 of 2"] {
            for one in StagedOperator.all {
                let overview = try await stage.admin("admin/v1/overview", by: one)
                #expect(overview.text.contains("tenants.amber.limits.\(limit)") == one.covers(.amber), "\(one.name)")
            }
        }
        let metrics = stage.server.shared.metrics.text(.prometheus)
        for line in [
            #"latchkey_tenant_limit{tenant="amber",limit="licensesPerDay"} 5"#,
            #"latchkey_tenant_use{tenant="amber",limit="licensesPerDay"} 2"#,
            #"latchkey_tenant_use{tenant="bronze",limit="licensesPerDay"} 0"#,
            #"latchkey_tenant_limit_refusals_total{tenant="amber",limit="keys"} 0"#,
        ] { #expect(metrics.contains(line), "\(line)") }
        // Another node, or this one after a restart.
        let node = try await TestServer(stage.stage.folder)
        await node.server.exchangeUsage()
        let amber = try #require(node.server.current.tenants["amber"])
        #expect(
            amber.usage.used(amber.settings.limits, at: Date()).mapValues(\.value)
                == [.sessions: 1, .keys: 2, .licensesPerDay: 2])
        // A stopping node reports its last licenses.
        #expect(TenantBound(amber.usage, amber.settings.limits, at: Date()).take(.asMany) == nil)
        await node.stop(within: .zero)
        await stage.server.exchangeUsage()
        #expect(
            stage.server.shared.metrics.text(.prometheus).contains(
                #"latchkey_tenant_use{tenant="amber",limit="licensesPerDay"} 3"#))
        let log = await node.log
        for limit in ["sessions: 1 of 1", "keys: 2 of 2"] { #expect(log.contains("tenants.amber.limits.\(limit)")) }
        #expect(!log.contains("licensesPerDay:"))
        let tenants = try await stage.admin("admin/v1/tenants", by: StagedOperator(role: .viewer, owner: .amber))
        let limits = JSONValue(tenants.body)?["tenants"]?.first?["limits"]
        #expect(limits?["sessions"]?["limit"]?.number == 1 && limits?["sessions"]?["used"]?.number == 1)
    }

    @Test
    func `a tenant's operator reads its audit entries by search and by number, and they name the tenant`()
        async throws
    {
        let stage = try await TenantStage()
        try await stage.live()
        for owner in Owner.both {
            for number in 0..<3 {
                let one = StagedOperator(role: .operator, owner: number == 0 ? nil : owner)
                let path = "admin/v1/tenants/\(owner.name)/keys/\(owner.kid(2))/disable"
                #expect(try await stage.admin(path, "POST", body: "", by: one).status == 200)
            }
            _ = try await stage.admin(
                "admin/v1/sign-in", "POST", body: "", by: StagedOperator(role: .viewer, owner: owner))
        }
        for owner in Owner.both {
            let one = StagedOperator(role: .viewer, owner: owner)
            for query in ["", "?from=1", "?from=1&limit=200", "?who=admin", "?limit=2"] {
                let reply = try await stage.admin("admin/v1/audit\(query)", by: one)
                guard case .array(let entries)? = JSONValue(reply.body)?["entries"] else {
                    Issue.record("\(reply.text)")
                    continue
                }
                let events = entries.compactMap { $0["event"] }
                #expect(!events.isEmpty && events.allSatisfy { $0["tenant"]?.text == owner.name }, "\(reply.text)")
                #expect(query.contains("limit=2") && !query.contains("200") ? events.count == 2 : events.count >= 4)
                #expect(JSONValue(reply.body)?["last"] == nil)
            }
            let mine = try await stage.admin("admin/v1/audit?who=\(owner.name)-operator", by: one)
            #expect(mine.text.contains("admin:\(owner.name)-operator") && mine.text.contains("keyDisabled"))
        }
    }
}

extension JSONValue {
    fileprivate var first: JSONValue? {
        guard case .array(let values) = self else { return nil }
        return values.first
    }
}
