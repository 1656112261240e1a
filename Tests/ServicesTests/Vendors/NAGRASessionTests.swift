import Foundation
import LatchkeyCore
import LatchkeyDevice
import LatchkeyServices
import LatchkeyTesting
import Testing

/// Secure session management, V1.
@Suite(.timeLimit(.minutes(5))) struct NAGRASessionTests {
    private static let needsSession =
        #"{"contentRights":[{"contentId":"latchkey-demo","sessionControl":{"sessionControlEnabled":true,"maxSessions":1}}]}"#

    @Test func `setup, license, heartbeat and teardown`() async throws {
        try await withService(NAGRAService.init) { stage in
            let content = stage.service.demoToken().revealedText
            let setup = try await stage.session("setup", content)
            #expect(setup.status == 200)
            #expect(try setup.member("heartbeat") == "30")
            let session = try #require(try setup.member("sessionToken"))
            let exchange = try stage.exchange(stage.identifier)
            let license = try await stage.license(exchange.spc.revealed, "\(content),\(session)")
            #expect(try stage.opensVideo(try license.payload("CkcMessage"), exchange))
            #expect(try license.member("sessionToken") == nil)
            let next = try #require(try await stage.session("heartbeat", session).member("sessionToken"))
            #expect(next != session)
            let teardown = try await stage.session("teardown", next)
            #expect(teardown.status == 200)
            #expect(teardown.text == "{}")
            #expect(stage.service.openSessions == 0)
            #expect(stage.warnings.isEmpty)
        }
    }

    @Test func `one session too many is refused with 1007 until a teardown`() async throws {
        try await withService(NAGRAService.init, { $0.sessionLimit = 2 }) { stage in
            let content = stage.service.demoToken().revealedText
            let first = try #require(try await stage.session("setup", content).member("sessionToken"))
            _ = try await stage.session("setup", content)
            let third = try await stage.session("setup", content)
            #expect(third.status == 400)
            #expect(try third.member("errorCode") == "1007")
            #expect(try third.member("message")?.isEmpty == false)
            let other = stage.service.contentToken(claims: #"{"device":{"accountId":"other"}}"#).revealedText
            let elsewhere = try await stage.session("setup", other).status
            #expect(elsewhere == 200)
            _ = try await stage.session("teardown", first)
            let fourth = try await stage.session("setup", content).status
            #expect(fourth == 200)
        }
    }

    @Test func `the content token states the limit too`() async throws {
        try await withService(NAGRAService.init) { stage in
            let content = stage.service.contentToken(claims: Self.needsSession).revealedText
            let first = try await stage.session("setup", content).status
            let second = try await stage.session("setup", content)
            #expect(first == 200)
            #expect(try second.member("errorCode") == "1007")
        }
    }

    @Test func `the fault switch can send 1007`() async throws {
        try await withService(NAGRAService.init) { stage in
            stage.service.faults.set(.refusal(code: "1007", status: 400), at: .sessionSetup, for: .first(1))
            let reply = try await stage.session("setup", stage.service.demoToken().revealedText)
            #expect(reply.status == 400)
            #expect(try reply.member("errorCode") == "1007")
        }
    }

    @Test func `a session that is silent for three heartbeats is closed`() async throws {
        try await withService(NAGRAService.init) { stage in
            let content = stage.service.contentToken(claims: Self.needsSession).revealedText
            let session = try #require(try await stage.session("setup", content).member("sessionToken"))
            stage.time.advance(by: .seconds(89))
            let next = try #require(try await stage.session("heartbeat", session).member("sessionToken"))
            stage.time.advance(by: .seconds(90))
            let late = try await stage.session("heartbeat", next)
            #expect(late.status == 400)
            #expect(try late.member("errorCode") == "1006")
            let again = try await stage.session("setup", content).status
            #expect(again == 200)
        }
    }

    @Test func `a replaced token passes once with a warning, an older one never`() async throws {
        try await withService(NAGRAService.init) { stage in
            let content = stage.service.demoToken().revealedText
            let first = try #require(try await stage.session("setup", content).member("sessionToken"))
            let second = try #require(try await stage.session("heartbeat", first).member("sessionToken"))
            let repeated = try await stage.session("heartbeat", first).status
            #expect(repeated == 200)
            #expect(stage.warnings == ["sessionToken"])
            _ = try await stage.session("heartbeat", second)
            let old = try await stage.session("heartbeat", first).status
            #expect(old == 400)
        }
    }

    @Test func `content that needs a session gets a license in an open one`() async throws {
        try await withService(NAGRAService.init) { stage in
            let content = stage.service.contentToken(claims: Self.needsSession).revealedText
            let session = try #require(try await stage.session("setup", content).member("sessionToken"))
            let with = try await stage.license(try stage.spc(), "\(content),\(session)").status
            #expect(with == 200)
            let closed = try await stage.license(try stage.spc(), "\(content),\(jwt(#"{"typ":"Session"}"#))").status
            #expect(closed == 400)
        }
    }

    @Test func `an enforced session has leases that are renewed with the session token alone`() async throws {
        try await withService(
            NAGRAService.init,
            {
                $0.enforcesSessions = true
                $0.heartbeat = .seconds(20)
            }
        ) { stage in
            let content = stage.service.demoToken().revealedText
            let session = try #require(try await stage.session("setup", content).member("sessionToken"))
            let exchange = try stage.exchange(stage.identifier)
            let license = try await stage.license(exchange.spc.revealed, "\(content),\(session)")
            let opened = try exchange.open(try #require(try license.payload("CkcMessage")), at: stage.time)
            #expect(opened.terms == LicenseTerms(.lease(.seconds(40))))
            let next = try #require(try license.member("sessionToken"))
            let renewal = try await stage.license(exchange.spc.revealed, next, query: "?renew=true")
            #expect(renewal.status == 200)
            #expect(try stage.opensVideo(try renewal.payload("CkcMessage"), exchange))
            #expect(try renewal.member("sessionToken") != next)
            let both = try await stage.license(exchange.spc.revealed, "\(content),\(next)", query: "?renew=true").status
            #expect(both == 400)
        }
    }

    @Test func `a renewal counts as a sign of life`() async throws {
        try await withService(NAGRAService.init) { stage in
            let content = stage.service.demoToken().revealedText
            let session = try #require(try await stage.session("setup", content).member("sessionToken"))
            for _ in 0..<3 {
                stage.time.advance(by: .seconds(80))
                let status = try await stage.license(try stage.spc(), session, query: "?renew=true").status
                #expect(status == 200)
            }
        }
    }

    @Test(arguments: ["heartbeat", "teardown", "setup"])
    func `a call without its token or body is refused`(_ call: String) async throws {
        try await withService(NAGRAService.init) { stage in
            let isSetup = call == "setup"
            for (token, code) in [
                ("", "1003"), ("x", isSetup ? "1003" : "1006"), (jwt("{}"), isSetup ? "1003" : "1006"),
                (stage.service.contentToken(claims: #"{"exp":1}"#).revealedText, isSetup ? "1004" : "1006"),
            ] {
                let reply = try await stage.session(call, token)
                #expect(reply.status == 400)
                #expect(try reply.member("errorCode") == code)
            }
            #expect(try await stage.session(call, "a,b").status == 400)
            let bodiless = try await stage.session(call, stage.service.demoToken().revealedText, body: "")
            #expect(bodiless.status == 400)
            let get = try await stage.send("GET", "/DEMO/ssm/v1/sessions/\(call)").status
            #expect(get == 405)
        }
    }
}

extension ServiceStage<NAGRAService> {
    fileprivate func session(_ call: String, _ token: String, body: String = "{}") async throws -> Reply {
        let headers = [
            "Accept": "application/json", "Content-Type": "application/json; charset=utf-8", "nv-authorizations": token,
        ]
        return try await send("POST", "/DEMO/ssm/v1/sessions/\(call)", headers, Data(body.utf8))
    }
}
