import Foundation
import LatchkeyCore
import LatchkeyDevice
import LatchkeyFairPlay
import LatchkeyHTTP
import Testing

@testable import LatchkeyDecision
@testable import LatchkeyForms
@testable import LatchkeyLicensing
@testable import LatchkeyVault

@Suite(.timeLimit(.minutes(2)))
struct PlayerAPITests {
    private static let limited =
        #""validity":{"type":"lease","lease":"5m"},"concurrency":{"limit":1,"heartbeat":"30s"}"#

    @Test func `a raw SPC gets a raw CKC, with the vault's key and the policy's lease`() async throws {
        let stage = try await APIStage()
        let exchange = try stage.exchange()
        let answer = await stage.ask("fairplay", exchange.spc.revealed, token: try stage.token())
        #expect(answer.response.status == 200)
        #expect(answer.response.headers[.contentType] == "application/octet-stream")
        #expect(answer.response.headers[.cacheControl] == "no-store")
        let key = try exchange.open(answer.body, at: stage.time)
        let held = try await stage.vault.key(#require(KeyID(APIStage.kid)), content: ContentName("movie"))
        #expect(key.contentKey == held.content)
        #expect(key.terms.validity == .lease(.seconds(300)))
        let renewal = try #require(answer.response.headers["X-Latchkey-Renew-After"].flatMap { Int($0) })
        #expect((120..<300).contains(renewal))
        #expect(answer.report.outcome == .license)
        #expect(answer.report.kid == KeyID(APIStage.kid))
    }

    @Test(arguments: ["fairplay", "clearkey", "slots"], [true, false])
    func `a compressed body gets a readable 415, by header field or first bytes`(
        _ path: String, _ isStated: Bool
    ) async throws {
        let stage = try await APIStage()
        let headers: HTTPHeaders = isStated ? [.contentEncoding: "br"] : [:]
        let body = isStated ? Data([1, 2, 3]) : Data([0x1f, 0x8b, 8, 0])
        let answer = await stage.ask(path, body, token: try stage.token(), headers: headers)
        #expect(answer.response.status == 415)
        #expect(answer.json?["error"]?["reason"]?.text == "The body is compressed (\(isStated ? "br" : "gzip")).")
        // As it is.
        let plain = await stage.ask(
            "fairplay", try stage.exchange().spc.revealed, token: try stage.token(),
            headers: [.contentEncoding: "identity"])
        #expect(plain.response.status == 200)
    }

    @Test func `JSON gets JSON, and may carry the token`() async throws {
        let stage = try await APIStage()
        let exchange = try stage.exchange()
        let body = JSONValue.object([
            "spc": .text(exchange.spc.revealed.base64EncodedString()), "token": .text(try stage.token()),
        ])
        let answer = await stage.ask(
            "fairplay", Data(body.canonicalText.utf8), headers: [.contentType: "application/json; charset=utf-8"])
        #expect(answer.response.status == 200)
        let ckc = try #require(answer.json?["ckc"]?.text.flatMap { Data(base64Encoded: $0) })
        _ = try exchange.open(ckc, at: stage.time)
        #expect(answer.json?["lease"]?.number == 300)
        #expect(answer.json?["heartbeatToken"] == nil, "Nothing is counted, so there is no session to keep.")
    }

    @Test(arguments: ["skd://movie/\(APIStage.kid)", "movie/\(APIStage.kid)", "skd://oLHC0+T1BhcoOUpbbH2Onw=="])
    func `a key is named by the tenant's URI, its part after the scheme, or Shaka Packager's`(_ uri: String)
        async throws
    {
        let stage = try await APIStage()
        let demand = KeyDemand(
            KeyAddress(content: try #require(ContentName("movie")), kid: try #require(KeyID(APIStage.kid))))
        let keys = try await stage.vault.keys(for: [demand])
        let exchange = try stage.exchange(uri)
        let answer = await stage.ask("fairplay", exchange.spc.revealed, token: try stage.token())
        #expect(try exchange.open(answer.body, at: stage.time).contentKey == keys[demand.address])
    }

    @Test func `each refusal has its status, code, remedy, and the request's identifier`() async throws {
        let stage = try await APIStage()
        let spc = try stage.exchange().spc.revealed
        let token = try stage.token()
        let nothing = try stage.exchange("skd://nothing").spc.revealed
        let cases: [(APIAnswer, Int, String)] = [
            (await stage.ask("fairplay", spc), 401, "tokenMissing"),
            (await stage.ask("fairplay", spc, token: token + "x"), 401, "tokenRefused"),
            (await stage.ask("fairplay", spc, token: try stage.token(["exp": .number(1)])), 401, "tokenRefused"),
            (await stage.ask("fairplay", Data(), token: token), 400, "malformedRequest"),
            (await stage.ask("fairplay", Data("hello".utf8), token: token), 400, "malformedContainer"),
            (await stage.ask("fairplay", Data(count: 70_000), token: token), 413, "bodyTooLarge"),
            (await stage.ask("fairplay", spc, token: token, tenant: "other"), 403, "unknownTenant"),
            (await stage.ask("fairplay", nothing, token: token), 404, "unknownKey"),
            (
                await stage.ask("fairplay", spc, token: token, headers: ["X-Latchkey-Purpose": "fun"]), 400,
                "malformedRequest"
            ),
            (
                await stage.ask(
                    "fairplay", Data("[1]".utf8), token: token, headers: [.contentType: "application/json"]),
                400, "malformedRequest"
            ),
        ]
        for (answer, status, code) in cases {
            #expect(answer.response.status == status)
            #expect(answer.code == code)
            #expect(answer.json?["error"]?["remedy"]?.text?.isEmpty == false)
            #expect(answer.json?["error"]?["requestId"]?.text == "request-1")
            #expect(answer.report.outcome.word == code)
        }
    }

    @Test func `a token's claims narrow its scope`() async throws {
        let stage = try await APIStage()
        let spc = try stage.exchange().spc.revealed
        let other = try stage.token(["latchkey": .object(["contents": .array([.text("series")])])])
        #expect(await stage.ask("fairplay", spc, token: other).code == "notCovered")
        let this = try stage.token(["latchkey": .object(["contents": .array([.text("movie")])])])
        #expect(await stage.ask("fairplay", spc, token: this).response.status == 200)
        let wrong = try stage.token(["latchkey": .object(["contens": .array([])])])
        let answer = await stage.ask("fairplay", spc, token: wrong)
        #expect(answer.code == "tokenMalformed")
        #expect(answer.json?["error"]?["reason"]?.text?.contains("latchkey.contens") == true)
    }

    @Test func `a second session waits until the first one ends`() async throws {
        let stage = try await APIStage(Self.limited)
        let first = await stage.ask("fairplay", try stage.exchange(session: 1).spc.revealed, token: try stage.token())
        let heartbeat = try #require(first.response.headers["X-Latchkey-Heartbeat-Token"])
        #expect(first.response.headers["X-Latchkey-Heartbeat"] == "30")
        let second = await stage.ask("fairplay", try stage.exchange(session: 2).spc.revealed, token: try stage.token())
        #expect(second.response.status == 403)
        #expect(second.code == "sessionLimit")
        #expect(await stage.ask("sessions/heartbeat", token: heartbeat).response.status == 200)
        #expect(await stage.ask("sessions", method: .delete, token: heartbeat).response.status == 204)
        let third = await stage.ask("fairplay", try stage.exchange(session: 2).spc.revealed, token: try stage.token())
        #expect(third.response.status == 200)
        #expect(await stage.ask("sessions/heartbeat", token: heartbeat).response.status != 200)
    }

    @Test func `a viewer who sends the other session's stop code takes its place`() async throws {
        let stage = try await APIStage(Self.limited)
        _ = await stage.ask("fairplay", try stage.exchange(session: 1).spc.revealed, token: try stage.token())
        let refused = await stage.ask("fairplay", try stage.exchange(session: 2).spc.revealed, token: try stage.token())
        guard case .array(let sessions)? = refused.json?["error"]?["sessions"],
            let code = sessions.first?["stop"]?.text
        else {
            Issue.record("The refusal names no session.")
            return
        }
        let spc = try stage.exchange(session: 2).spc.revealed
        let answer = await stage.ask("fairplay", spc, token: try stage.token(), headers: ["X-Terminate": code])
        #expect(answer.response.status == 200)
    }

    @Test func `a stopped player gets no key, and its slot is free`() async throws {
        let stage = try await APIStage(Self.limited)
        _ = await stage.ask("fairplay", try stage.exchange(session: 1).spc.revealed, token: try stage.token())
        var options = SPCOptions()
        options.playbackState = .stopped
        let spc = try stage.exchange(session: 1, options).spc.revealed
        let stopped = await stage.ask("fairplay", spc, token: try stage.token())
        #expect(stopped.response.status == 204)
        #expect(stopped.body.isEmpty)
        let next = await stage.ask("fairplay", try stage.exchange(session: 2).spc.revealed, token: try stage.token())
        #expect(next.response.status == 200)
    }

    @Test func `a disabled key is refused as blocked`() async throws {
        let stage = try await APIStage()
        let kid = try #require(KeyID(APIStage.kid))
        _ = try await stage.vault.keys(for: [
            KeyDemand(KeyAddress(content: try #require(ContentName("movie")), kid: kid))
        ])
        try await stage.vault.setDisabled(true, kid)
        let spc = try stage.exchange().spc.revealed
        #expect(await stage.ask("fairplay", spc, token: try stage.token()).code == "blocked")
    }

    @Test func `the certificate is cached, and is not sent twice`() async throws {
        let stage = try await APIStage()
        let answer = await stage.ask("certificate", method: .get)
        #expect(answer.body == stage.device.certificate.der)
        #expect(answer.response.headers[.cacheControl] == "public, max-age=3600")
        let tag = try #require(answer.response.headers["ETag"])
        let again = await stage.ask("certificate", method: .get, headers: ["If-None-Match": tag])
        #expect(again.response.status == 304)
        #expect(again.body.isEmpty)
    }

    @Test func `wrong methods and paths differ in status`() async throws {
        let stage = try await APIStage()
        let method = await stage.ask("fairplay", method: .get)
        #expect(method.response.status == 405)
        #expect(method.response.headers[.allow] == "POST")
        #expect(await stage.ask("nothing").response.status == 404)
    }

    @Test func `no answer and no report shows a token, an SPC or a key`() async throws {
        let stage = try await APIStage()
        let exchange = try stage.exchange()
        let token = try stage.token()
        for answer in [
            await stage.ask("fairplay", exchange.spc.revealed, token: token),
            await stage.ask("fairplay", exchange.spc.revealed, token: token + "x"),
            await stage.ask("fairplay", exchange.spc.revealed + Data([1]), token: token),
        ] {
            let report = "\(answer.report)"
            #expect(!report.contains(token))
            #expect(!report.contains(token.split(separator: ".")[2]))
            if answer.response.status != 200 { #expect(!String(decoding: answer.body, as: UTF8.self).contains(token)) }
        }
    }
}

@Suite(.timeLimit(.minutes(1)))
struct ClearKeyAPITests {
    private static func body(_ kids: [String]) -> Data {
        Data(JSONValue.object(["kids": .array(kids.map { .text($0) }), "type": .text("temporary")]).canonicalText.utf8)
    }

    private static let kid = "oLHC0-T1BhcoOUpbbH2Onw"

    @Test func `Clear Key is refused if the tenant disables it`() async throws {
        let stage = try await APIStage()
        let answer = await stage.ask("clearkey", Self.body([Self.kid]), token: try stage.token())
        #expect(answer.response.status == 403)
        #expect(answer.code == "right")
    }

    @Test func `a browser gets the keys that the policy grants, without a content type`() async throws {
        let stage = try await APIStage(settings: #""clearKey":true"#)
        let demand = KeyDemand(
            KeyAddress(content: try #require(ContentName("movie")), kid: try #require(KeyID(APIStage.kid))))
        let key = try #require(try await stage.vault.keys(for: [demand])[demand.address])
        let answer = await stage.ask("clearkey", Self.body([Self.kid]), token: try stage.token())
        guard case .array(let keys)? = answer.json?["keys"] else {
            Issue.record("No keys: \(String(decoding: answer.body, as: UTF8.self))")
            return
        }
        #expect(keys.first?["kid"]?.text == Self.kid)
        #expect(keys.first?["k"]?.text == Base64URL.text(key.key.revealed))
        #expect(answer.json?["type"]?.text == "temporary")
    }

    @Test func `a page that requests two keys starts one playback, and ends the one it replaces`() async throws {
        let stage = try await APIStage(
            #""validity":{"type":"lease","lease":"5m"},"concurrency":{"limit":1,"mode":"stopOldest"}"#,
            settings: #""clearKey":true"#)
        let other = String(APIStage.kid.reversed())
        for (kid, track) in [(APIStage.kid, "HD"), (other, "AUDIO")] {
            let key = try #require(KeyID(kid))
            let rule = EncryptionContract.Rule(kid: key, trackType: track, video: [], audio: [], periods: [])
            let demand = KeyDemand(
                KeyAddress(content: try #require(ContentName("movie")), kid: key), tracks: [rule])
            _ = try await stage.vault.keys(for: [demand])
        }
        let kids = try [APIStage.kid, other].map { Base64URL.text(try #require(KeyID($0)).bytes) }
        for (session, stopped) in [("one", []), ("two", ["one"])] {
            let answer = await stage.ask(
                "clearkey", Self.body(kids), token: try stage.token(["sid": .text(session)]))
            #expect(answer.response.status == 200, "\(String(decoding: answer.body, as: UTF8.self))")
            guard case .take(let slot, let stopping)? = answer.report.record?.made?.decision.change else {
                Issue.record("The report tells of no playback that began.")
                continue
            }
            #expect(slot.session == session && stopping == stopped)
            #expect(try await stage.accounts.account("anna", of: "acme").slots.map(\.session) == [session])
            #expect(answer.report.kid == KeyID(APIStage.kid))
            if session == "two" { await answer.taken?.giveBack() }
        }
        // Both keys are in the one slot, which is given back whole.
        #expect(try await stage.accounts.account("anna", of: "acme").slots.isEmpty)
    }

    @Test(arguments: [[], ["short"], ["oLHC0-T1BhcoOUpbbH2Onw=="], Array(repeating: kid, count: 101)])
    func `kids in another form are refused`(_ kids: [String]) async throws {
        let stage = try await APIStage(settings: #""clearKey":true"#)
        let answer = await stage.ask("clearkey", Self.body(kids), token: try stage.token())
        #expect(answer.code == "malformedRequest")
    }
}

@Suite(.timeLimit(.minutes(1)))
struct CalloutTests {
    private struct Unanswered: Error {}

    private func stage(
        _ policy: String = #""validity":{"type":"lease","lease":"5m"}"#,
        _ answer: @escaping @Sendable (EntitlementQuestion) throws -> EntitlementCallout<Grant>.Answer
    ) async throws -> APIStage {
        try await APIStage(policy, callout: { question in try answer(question) })
    }

    @Test func `the operator's service is asked for user and content, and its yes is a license`() async throws {
        let asked = Locked<[EntitlementQuestion]>([])
        let stage = try await stage { question in
            asked.withLock { $0.append(question) }
            return .granted(Grant())
        }
        let answer = await stage.ask("fairplay", try stage.exchange().spc.revealed, token: try stage.token())
        #expect(answer.response.status == 200)
        #expect(asked.withLock { $0 } == [EntitlementQuestion(user: "anna", asset: "movie")])
    }

    @Test func `its no is a refusal`() async throws {
        let stage = try await stage { _ in .denied }
        let answer = await stage.ask("fairplay", try stage.exchange().spc.revealed, token: try stage.token())
        #expect(answer.code == "notEntitled")
        #expect(answer.response.status == 403)
    }

    @Test func `its terms narrow the token's grant`() async throws {
        let stage = try await stage { _ in
            .granted(try Grant(calloutReply: Data(#"{"policy":{"validity":{"type":"lease","lease":"1m"}}}"#.utf8)))
        }
        let exchange = try stage.exchange()
        let answer = await stage.ask("fairplay", exchange.spc.revealed, token: try stage.token())
        #expect(try exchange.open(answer.body, at: stage.time).terms.validity == .lease(.seconds(60)))
    }

    @Test func `while it is silent the policy's rule decides`() async throws {
        let refusing = try await stage { _ in throw Unanswered() }
        let refused = await refusing.ask("fairplay", try refusing.exchange().spc.revealed, token: try refusing.token())
        #expect(refused.code == "storeUnavailable")
        #expect(refused.response.status == 503)
        let allowing = try await stage(
            #""validity":{"type":"lease","lease":"5m"},"outage":{"callout":"allow:2m"}"#
        ) { _ in throw Unanswered() }
        let exchange = try allowing.exchange()
        let allowed = await allowing.ask("fairplay", exchange.spc.revealed, token: try allowing.token())
        #expect(try exchange.open(allowed.body, at: allowing.time).terms.validity == .lease(.seconds(120)))
    }
}
