import Foundation
import LatchkeyCore
import LatchkeyDevice
import LatchkeyFairPlay
import LatchkeyHTTP
import LatchkeyTesting
import SwitchedStores
import Testing

@testable import LatchkeyDecision
@testable import LatchkeyForms
@testable import LatchkeyLicensing
@testable import LatchkeyVault

extension APIStage {
    static let players = #""slots":"players""#
    static let services = #""slots":"services""#
    /// The key of the device's requests, which is derived.
    static let key = #""kid":"\#(kid)","content":"movie""#

    /// Asks for a slot.
    /// - Parameter body: the request's members besides `drm`, as JSON.
    func slot(
        _ body: String = key, drm: String = "widevine", session: String? = nil, token: String? = nil,
        key: String? = nil, tenant: String = "acme", connection: LicenseRequestFacts = LicenseRequestFacts()
    ) async throws -> APIAnswer {
        let session = session.map { #","session":"\#($0)""# } ?? ""
        var headers: HTTPHeaders = [.contentType: "application/json"]
        headers["X-API-Key"] = key
        return await ask(
            "slots", Data(#"{"drm":"\#(drm)",\#(body)\#(session)}"#.utf8), token: try token ?? self.token(),
            headers: headers, tenant: tenant, viewer: connection)
    }

    /// A FairPlay license of a session on its own device.
    func fairPlay(_ session: UInt64, headers: HTTPHeaders = [:]) async throws -> APIAnswer {
        await ask("fairplay", try exchange(session: session).spc.revealed, token: try token(), headers: headers)
    }
}

/// Licenses that other services make count along with the ones made here.
@Suite(.timeLimit(.minutes(2))) struct SlotAPITests {
    private static let two =
        #""validity":{"type":"lease","lease":"5m"},"concurrency":{"limit":2,"heartbeat":"30s"}"#
    private static let one =
        #""validity":{"type":"lease","lease":"5m"},"concurrency":{"limit":1,"heartbeat":"30s"}"#

    @Test func `a slot is taken on the policy's terms, and the decision is recorded with its system`() async throws {
        let stage = try await APIStage(Self.two, settings: APIStage.players)
        let answer = try await stage.slot(session: "a")
        #expect(answer.response.status == 200)
        #expect(answer.response.headers[.cacheControl] == "no-store")
        #expect(answer.json?["state"]?.text == "taken" && answer.json?["drm"]?.text == "widevine")
        #expect(answer.json?["session"]?.text == "widevine/a")
        #expect(answer.json?["lease"]?.number == 300 && answer.json?["heartbeat"]?.number == 30)
        #expect(answer.json?["until"]?.text == DateText.text(stage.time.date + 80))
        let slot = try #require(try await stage.accounts.account("anna", of: "acme").slots.first)
        #expect(slot.drm == .widevine && slot.content == "movie")
        #expect(answer.json?["slot"]?.text == slot.stopCode)
        #expect(answer.report.outcome == .license && answer.report.drm == .widevine)
        #expect(answer.report.kid == KeyID(APIStage.kid))
        let record = try #require(answer.report.record)
        #expect(record.facts.request.drm == .widevine)
        #expect(try DecisionRecord(json: record.canonicalJSON).facts == record.facts)
    }

    @Test func `a household reaches one limit with streams of each system, and each reports the same code`()
        async throws
    {
        let stage = try await APIStage(Self.two, settings: APIStage.players)
        #expect(try await stage.fairPlay(1).response.status == 200)
        #expect(try await stage.slot(session: "tablet").response.status == 200)
        let widevine = try await stage.slot(session: "tv")
        let playReady = try await stage.slot(drm: "playready", session: "console")
        let fairPlay = try await stage.fairPlay(2)
        for answer in [widevine, playReady, fairPlay] {
            #expect(answer.response.status == 403)
            #expect(answer.code == "sessionLimit")
            #expect(answer.json?["error"]?["reason"] == fairPlay.json?["error"]?["reason"])
            guard case .array(let sessions)? = answer.json?["error"]?["sessions"] else {
                Issue.record("No sessions are listed.")
                continue
            }
            #expect(sessions.count == 2)
        }
    }

    @Test func `each system stops the other's session with its code, and the stopped one learns why`() async throws {
        let stage = try await APIStage(Self.one, settings: APIStage.players)
        let heartbeat = try #require(
            try await stage.fairPlay(1).response.headers["X-Latchkey-Heartbeat-Token"])
        func code(_ answer: APIAnswer) throws -> String {
            guard case .array(let sessions)? = answer.json?["error"]?["sessions"] else { return "" }
            return try #require(sessions.first?["stop"]?.text)
        }
        let stop = try code(try await stage.slot(session: "tv"))
        let taken = try await stage.slot(#"\#(APIStage.key),"stop":["\#(stop)"]"#, session: "tv")
        #expect(taken.response.status == 200)
        #expect(await stage.ask("sessions/heartbeat", token: heartbeat).code == "sessionStopped")
        let own = try #require(taken.json?["heartbeatToken"]?.text)
        let back = try code(try await stage.fairPlay(2))
        #expect(try await stage.fairPlay(2, headers: ["X-Terminate": back]).response.status == 200)
        #expect(await stage.ask("slots/heartbeat", token: own).code == "sessionStopped")
        #expect(try await stage.slot(session: "tv").code == "sessionStopped")
    }

    @Test func `a repeated request renews the slot of the first one, whose token stays valid`() async throws {
        let stage = try await APIStage(Self.one, settings: APIStage.players)
        let first = try await stage.slot(session: "tv")
        stage.time.advance(by: .seconds(10))
        let second = try await stage.slot(session: "tv")
        #expect(second.json?["state"]?.text == "renewed" && second.json?["slot"] == first.json?["slot"])
        let slots = try await stage.accounts.account("anna", of: "acme").slots
        #expect(slots.count == 1 && slots.first?.ends == stage.time.date + 80)
        let token = try #require(first.json?["heartbeatToken"]?.text)
        #expect(await stage.ask("slots/heartbeat", token: token).response.status == 200)
        #expect(await stage.ask("slots", method: .delete, token: token).response.status == 204)
        #expect(await stage.ask("slots", method: .delete, token: token).response.status == 204)
        #expect(await stage.ask("slots/heartbeat", token: token).code == "sessionEnded")
        #expect(try await stage.fairPlay(1).response.status == 200, "The slot is free.")
    }

    @Test func `a session's name opens no FairPlay slot, and another system's session is separate`() async throws {
        let stage = try await APIStage(Self.one, settings: APIStage.players)
        #expect(try await stage.fairPlay(1).response.status == 200)
        let name = PlaybackSessionID(rawValue: 1).description
        #expect(try await stage.slot(session: name).code == "sessionLimit")
        #expect(try await stage.slot(drm: "fairplay", session: name).code == "sessionLimit")
        // The token's own session is a single one, whatever plays it.
        let stage2 = try await APIStage(Self.one, settings: APIStage.players)
        let token = try stage2.token(["sid": .text("one")])
        let spc = try stage2.exchange(session: 1).spc.revealed
        #expect(await stage2.ask("fairplay", spc, token: token).response.status == 200)
        #expect(try await stage2.slot(session: "x", token: token).json?["state"]?.text == "renewed")
    }

    @Test(arguments: [
        ("", nil, 403, "right"), ("", APIStage.serviceKey, 403, "right"),
        (APIStage.services, nil, 403, "right"), (APIStage.services, APIStage.serviceKey, 200, nil),
        (APIStage.players, nil, 200, nil), (APIStage.players, APIStage.serviceKey, 200, nil),
        (APIStage.players, "nobody's", 401, "callerUnknown"),
        (APIStage.players, APIStage.packagerKey, 403, "callerRight"),
        (APIStage.players, APIStage.strangerKey, 403, "callerOfAnotherTenant"),
    ]) func `the tenant says who takes slots`(_ settings: String, _ key: String?, _ status: Int, _ code: String?)
        async throws
    {
        let stage = try await APIStage(Self.one, settings: settings)
        let answer = try await stage.slot(session: "a", key: key)
        #expect(answer.response.status == status && answer.code == code)
        #expect(answer.report.caller == (key == APIStage.serviceKey ? "widevine" : nil))
        let slots = try await stage.accounts.account("anna", of: "acme").slots
        #expect(slots.count == (status == 200 ? 1 : 0))
    }

    @Test func `a service's word about its viewer's place counts, a player's does not`() async throws {
        let policy = #""place":{"allow":["DE"],"addresses":["203.0.113.0/24"]}"#
        let stage = try await APIStage(policy, settings: APIStage.players)
        let here = #"\#(APIStage.key),"viewer":{"address":"203.0.113.7","country":"DE"}"#
        #expect(try await stage.slot(here, key: APIStage.serviceKey).response.status == 200)
        let there = here.replacing("DE", with: "FR")
        #expect(try await stage.slot(there, key: APIStage.serviceKey).code == "place")
        let player = try await stage.slot(here)
        #expect(player.code == "malformedRequest")
        #expect(player.json?["error"]?["reason"]?.text?.hasPrefix("viewer:") == true)
        #expect(try await stage.slot().code == "place")
    }

    @Test(arguments: [#""allow":["DE"]"#, #""addresses":["203.0.113.0/24"]"#])
    func `a service's connection address does not locate its viewer`(_ place: String) async throws {
        let stage = try await APIStage(#""place":{\#(place)}"#, settings: APIStage.players)
        var connection = LicenseRequestFacts()
        connection.address = AddressRange(address: "203.0.113.7")
        (connection.country, connection.userAgent) = ("DE", "service/1")
        let service = try await stage.slot(key: APIStage.serviceKey, connection: connection)
        #expect(service.code == "place")
        let facts = try #require(service.report.record?.facts.request)
        #expect(facts.address == nil && facts.country == nil && facts.userAgent == nil)
        #expect(try await stage.slot(connection: connection).response.status == 200, "A player's is its viewer's.")
    }

    @Test func `an asset has the policies of its one key, or only the tenant's if it was not packaged`() async throws {
        let stage = try await APIStage(
            #""tracks":{"allow":["SD","HD"]}"#, settings: APIStage.players)
        let kid = try #require(KeyID("11111111-2222-4333-8444-555555555555"))
        let other = try #require(KeyID("11111111-2222-4333-8444-666666666666"))
        func add(_ content: String, _ kids: KeyID...) async throws {
            for kid in kids {
                let key = ContentKey(key: .random(16), iv: .random(16))
                let rule = EncryptionContract.Rule(kid: kid, trackType: "UHD1", video: [], audio: [], periods: [])
                let demand = KeyDemand(
                    KeyAddress(content: try #require(ContentName(content)), kid: kid), tracks: [rule])
                #expect(try await stage.vault.add([(demand, try #require(key))]) == [])
            }
        }
        try await add("classic", kid)
        // As its key is.
        #expect(try await stage.slot(#""asset":"classic""#).code == "track")
        #expect(try await stage.slot(#""asset":"classic","track":"SD""#).code == "track")
        try await add("series", other, try #require(KeyID("11111111-2222-4333-8444-777777777777")))
        #expect(try await stage.slot(#""asset":"series""#).code == "ambiguousKey")
    }

    @Test func `an unpackaged asset is accepted by its name if keys are not derived`() async throws {
        let stage = try await APIStage(
            #""tracks":{"allow":["SD","HD"]}"#, settings: APIStage.players, unlisted: .refuse)
        #expect(try await stage.slot(#""asset":"far","track":"HD""#).response.status == 200)
        #expect(try await stage.slot(#""asset":"far","track":"UHD1""#).code == "track")
        #expect(try await stage.slot(#""asset":"far""#).code == "track", "Of which nothing is known, that is ALL.")
        #expect(try await stage.slot().code == "unknownKey")
        let narrow = try stage.token(["latchkey": .object(["contents": .array([.text("near")])])])
        #expect(try await stage.slot(#""asset":"far","track":"HD""#, token: narrow).code == "notCovered")
    }

    @Test func `the same rules refuse as for FairPlay: devices, tokens used once, rates, outputs`() async throws {
        let devices = try await APIStage(#""devices":{"limit":1}"#, settings: APIStage.players)
        let body = #"\#(APIStage.key),"device":"#
        #expect(try await devices.slot(body + #""tv""#).response.status == 200)
        #expect(try await devices.slot(body + #""tv""#).response.status == 200)
        #expect(try await devices.fairPlay(1).code == "deviceLimit")
        #expect(try await devices.slot(body + #""tablet""#).code == "deviceLimit")
        let known = try await devices.accounts.account("anna", of: "acme").devices
        #expect(known.count == 1 && known["tv"] == nil, "A digest is kept, and not the name.")

        let once = try await APIStage(#""token":{"singleUse":true}"#, settings: APIStage.players)
        #expect(try await once.slot(session: "a").response.status == 200)
        #expect(try await once.slot(session: "a").response.status == 200, "The same request again.")
        #expect(try await once.slot(session: "b").code == "tokenUsed")

        let rate = try await APIStage(#""limits":{"licensesPerMinute":1}"#, settings: APIStage.players)
        #expect(try await rate.slot(session: "a").response.status == 200)
        let limited = try await rate.slot(session: "a")
        #expect(limited.response.status == 429 && limited.code == "rateLimit")
        #expect(limited.response.headers[.retryAfter] == "60")

        let output = try await APIStage(#""output":{"hdcp":{"ALL":"type1"}}"#, settings: APIStage.players)
        #expect(try await output.slot().code == "output")
        let able = #"\#(APIStage.key),"capabilities":["hdcpEnforcement"]"#
        #expect(try await output.slot(able).json?["hdcp"]?.text == "type1")

        let version = try await APIStage(#""client":{"protocolVersions":[3]}"#, settings: APIStage.players)
        #expect(try await version.slot().response.status == 200, "The rule is about FairPlay's protocol.")
        #expect(try await version.slot(drm: "fairplay").code == "client")
    }

    @Test func `without the session store the policy's outage rule decides, and the answer claims no count`()
        async throws
    {
        let allow = try await APIStage(Self.one + #","outage":{"sessionStore":"allow:2m"}"#, settings: APIStage.players)
        allow.sessions.setDown(true)
        let answer = try await allow.slot(session: "a")
        #expect(answer.json?["state"]?.text == "uncounted" && answer.json?["lease"]?.number == 120)
        #expect(answer.json?["heartbeatToken"] == nil && answer.json?["slot"] == nil)
        #expect(Degradation.all(in: answer.report, isCalloutAway: false) == [.sessionStore])
        let refuse = try await APIStage(Self.one + #","outage":{"sessionStore":"refuse"}"#, settings: APIStage.players)
        let taken = try await refuse.slot(session: "a")
        let token = try #require(taken.json?["heartbeatToken"]?.text)
        refuse.sessions.setDown(true)
        let refused = try await refuse.slot(session: "b")
        #expect(refused.response.status == 503 && refused.code == "storeUnavailable")
        #expect(await refuse.ask("slots/heartbeat", token: token).code == "storeUnavailable")
    }

    private static let wrong: [(body: String, place: String)] = [
        (#""kid":"x""#, "kid"), (#""session":"a""#, "kid"), (#""kid":"\#(APIStage.kid)","asset":"x""#, "kid"),
        (#""asset":"x","content":"y""#, "content"), (#""kid":"\#(APIStage.kid)","track":"HD""#, "track"),
        (#""asset":"x","track":"4K""#, "track"), (#""asset":"x","capabilities":["fly"]"#, "capabilities"),
        (#""asset":"x","sesion":"a""#, "sesion"), (#""asset":"x","session":"""#, "session"),
        (#""asset":"\#(String(repeating: "é", count: 200))""#, "asset"),
        (#""asset":"x","stop":[\#((0...100).map { #""s\#($0)""# }.joined(separator: ","))]"#, "stop"),
    ]

    @Test(arguments: wrong) func `an invalid form is refused with its place`(_ body: String, _ place: String)
        async throws
    {
        let stage = try await APIStage(Self.one, settings: APIStage.players)
        let answer = try await stage.slot(body)
        #expect(answer.response.status == 400 && answer.code == "malformedRequest")
        #expect(answer.json?["error"]?["reason"]?.text?.contains(place) == true)
        #expect(answer.json?["error"]?["remedy"]?.text?.isEmpty == false)
    }

    @Test(arguments: ["clearkey", "Widevine", ""]) func `each system has one name`(_ drm: String) async throws {
        let stage = try await APIStage(Self.one, settings: APIStage.players)
        #expect(try await stage.slot(drm: drm).code == "malformedRequest")
    }
}
