import Foundation
import LatchkeyTerminal
import Testing

@testable import LatchkeyLicensing
@testable import LatchkeyServer
@testable import LatchkeyServerTool
@testable import LatchkeySystem
@testable import LatchkeyVault
@testable import StoreProcesses
@testable import TestServers

/// The operators' view of regions.
@Suite(.timeLimit(.minutes(5))) struct RegionServerTests {
    @Test func `a region that is down is named by readiness, metrics, log and console, and others work`()
        async throws
    {
        let stage = try await TestServer.switched(
            sessions: { try #require(RegionalRecordStore(["eu": MemoryRecordStore(), "us": $0.sessions])) })
        func license(_ viewer: String) async throws -> Int {
            try await stage.license(1, token: stage.token(viewer)).status
        }
        // As the hash has them.
        let (american, european) = ("ben", "dora")
        for viewer in [american, european] { #expect(try await license(viewer) == 200) }
        #expect(try await stage.metric(#"latchkey_region_outage{region="us"}"#) == 0)
        stage.database.sessions.setDown(true)
        let degraded = #"latchkey_licenses_degraded_total{why="sessionStore"}"#
        for viewer in [american, european] { #expect(try await license(viewer) == 200) }
        #expect(try await stage.metric(degraded) == 1)
        #expect(try await stage.metric(#"latchkey_region_outage{region="us"}"#) == 1)
        #expect(try await stage.metric(#"latchkey_region_outage{region="eu"}"#) == 0)
        #expect(try await stage.metric(#"latchkey_store_outage{store="sessionStore",operation="read"}"#) == 1)
        #expect(try await stage.ready() == (200, "degraded"))
        let overview = try await stage.admin("overview")
        let words = overview.list("engines").filter { $0["state"]?.text == "away" }.compactMap { $0["words"]?.text }
        #expect(words.contains("The session store in us") && !words.contains { $0.contains("in eu") })
        #expect(overview.text.contains("whose home is that region"))
        let count = try await stage.server.shared.operatorAccounts.sessionCount(of: "demo", most: 0)
        #expect(count.value > 0 && !count.isWhole)
        stage.database.sessions.setDown(false)
        await stage.server.shared.look(atLeastEvery: .zero)
        #expect(try await stage.metric(#"latchkey_region_outage{region="us"}"#) == 0)
        #expect(await stage.log.contains("The session store in us does not answer."))
    }

    private static let wrong: [(stores: String, place: String)] = [
        (#"{"regions":{"eu":"redis://a"}}"#, "stores.region"), (#"{"region":"eu"}"#, "stores.region"),
        (#"{"regions":{"eu":"redis://a"},"region":"us"}"#, "stores.region"),
        (#"{"regions":{"eu":"redis://a"},"region":"eu","sessions":"redis://b"}"#, "stores.sessions"),
        (#"{"regions":{"eu":"redis://a","us":"redis://a"},"region":"eu"}"#, "stores.regions.us"),
    ]

    @Test(arguments: wrong) func `regions that conflict are refused with their place`(
        _ stores: String, _ place: String
    ) throws {
        let error = #expect(throws: JSONProblems.self) {
            try ServerSettings(json: Data(#"{"version":1,"stores":\#(stores)}"#.utf8))
        }
        #expect(error?.problems.map(\.place) == [place])
        #expect(error?.problems.allSatisfy { !$0.remedy.isEmpty } == true)
    }

    @Test func `a region that is down does not block a start, unless it holds the keys`() async throws {
        let folder = try ServerFolder()
        let away = "postgresql://127.0.0.1:\(try UnusedPort.any())/latchkey"
        func open(_ keys: String, _ audit: String) async throws {
            try folder.edit([
                "stores": [
                    "region": "us", "regions": ["eu": .text(away), "us": "sqlite:us.db"], "keys": .text(keys),
                    "audit": .text(audit),
                ]
            ])
            try await ServerEngines.open(ConfigurationFile(folder.configuration)).close()
        }
        try await open("sqlite:latchkey.db", "sqlite:latchkey.db")
        for (keys, audit, place) in [
            (away, "sqlite:latchkey.db", "stores.keys"), ("sqlite:latchkey.db", away, "stores.audit"),
        ] {
            let error = await #expect(throws: ServerProblems.self) { try await open(keys, audit) }
            #expect(error?.problems.map(\.place) == [place])
        }
    }

    @Test(.enabled(if: RedisProcess.isInstalled, "Redis is not installed."))
    func `a check tests each region and names those too slow for its time`() async throws {
        let (near, far) = (try await RedisProcess(), try await RedisProcess())
        let relay = try DelayingRelay(to: far.path, delay: .milliseconds(40))
        let folder = try ServerFolder()
        try await folder.makeTenants()
        try folder.edit([
            "stores.sessions": nil, "stores.sessionMilliseconds": 50, "stores.region": "eu",
            "stores.regions": ["eu": "redis+unix:\(near.path)", "us": "redis://127.0.0.1:\(relay.port)"],
        ])
        func check() async -> ToolRun { await ToolRun("run", "--check", "--config", folder.configuration) }
        let tooFar = await check()
        #expect(tooFar.error.contains("stores.regions.us: A call takes "), "\(tooFar.error)")
        #expect(tooFar.status == .yes)
        try folder.edit(["stores.sessionMilliseconds": 10_000])
        let patient = await check()
        #expect(!patient.error.contains("A call takes"), "\(patient.error)")
        #expect(patient.status == .yes)
        relay.cut(true)
        let gone = await check()
        #expect(gone.status != .yes && gone.error.contains("stores.regions.us: "), "\(gone.error)")
        #expect(!gone.error.contains("stores.regions.eu"), "\(gone.error)")
    }
}
