import Foundation
import LatchkeyCore
import LatchkeyDevice
import LatchkeyServices
import Testing

@Suite(.timeLimit(.minutes(5))) struct ExpressPlayEntitlementTests {
    private static let id = Stage.videoKeyID
    private static let message = "11111111-2222-3333-4444-555555555555"

    @Test(arguments: ["", #","requestType":1,"customerCookie":"12345678901234567890123456789012""#])
    func `what is allowed gets a token URL that gets a license`(_ members: String) async throws {
        try await withService(ExpressPlayService.init) { stage in
            let reply = try await stage.ask(members: members)
            #expect(reply.status == 200)
            #expect(try reply.member("messageID") == Self.message)
            #expect(try reply.member("version") == "1")
            #expect(try reply.member("isAllowed") == "1" || reply.member("isAllowed") == "true")
            let start = "http://127.0.0.1:\(stage.port)/expressplay"
            let url = try #require(try reply.member("epTokenURL"))
            #expect(url.hasPrefix("\(start)/hms/fp/rights/?ExpressPlayToken="))
            let exchange = try stage.exchange(Self.id)
            let license = try await stage.send("POST", String(url.dropFirst(start.count)), [:], exchange.spc.revealed)
            #expect(try stage.opensVideo(license.body, exchange))
        }
    }

    @Test(arguments: [("text/uri-list", false), ("application/json", false), ("text/uri-list", true)])
    func `an app's server gives a token URL that gets a license`(_ accept: String, _ answersJSON: Bool) async throws {
        try await withService(ExpressPlayService.init, { $0.answersJSON = answersJSON }) { stage in
            let reply = try await stage.send("GET", "/app/token-url?contentId=\(Self.id)", ["Accept": accept])
            #expect(reply.status == 200)
            let isList = accept == "text/uri-list" && !answersJSON
            let text = isList ? reply.text.trimmingCharacters(in: .newlines) : try reply.member("url")
            let start = "http://127.0.0.1:\(stage.port)/expressplay"
            let url = try #require(text)
            #expect(url.hasPrefix("\(start)/hms/fp/rights/?ExpressPlayToken="))
            let exchange = try stage.exchange(Self.id)
            let license = try await stage.send("POST", String(url.dropFirst(start.count)), [:], exchange.spc.revealed)
            #expect(try stage.opensVideo(license.body, exchange))
            let other = try await stage.send("GET", "/app/token-url?contentId=nothing")
            #expect(other.status == 404)
        }
    }

    @Test func `over TLS the token URL is https`() async throws {
        try await withService(ExpressPlayService.init) { stage in
            let reply = try await stage.ask(query: "?scheme=https")
            #expect(try reply.member("epTokenURL")?.hasPrefix("https://127.0.0.1:\(stage.port)/") == true)
        }
    }

    @Test(arguments: [(false, id, "-6006"), (true, "00000000-0000-0000-0000-000000000001", "-4018")])
    func `a denial is a good reply that says no`(_ entitles: Bool, _ content: String, _ code: String) async throws {
        try await withService(ExpressPlayService.init, { $0.entitles = entitles }) { stage in
            let reply = try await stage.ask(content: content)
            #expect(reply.status == 200)
            #expect(reply.text.contains(#""isAllowed":false"#))
            #expect(try reply.member("error") == code)
            #expect(try reply.member("errorText")?.isEmpty == false)
            #expect(try reply.member("epTokenURL") == nil)
            #expect(try reply.member("messageID") == Self.message)
        }
    }

    @Test func `a denial can be had from the fault switch`() async throws {
        try await withService(ExpressPlayService.init) { stage in
            stage.service.faults.set(.refusal(code: "-2031"), at: .entitlement)
            let reply = try await stage.ask()
            #expect(reply.status == 200)
            #expect(reply.text.contains(#""isAllowed":false"#))
            #expect(try reply.member("error") == "-2031")
        }
    }

    @Test func `an echo of another message can be asked for`() async throws {
        try await withService(ExpressPlayService.init, { $0.echoesMessageID = false }) { stage in
            let reply = try await stage.ask()
            #expect(try reply.member("messageID") == "00000000-0000-0000-0000-000000000000")
        }
    }

    @Test(arguments: [
        "{}", #"{"messageID":"x","version":1,"contentID":"\#(id)"}"#,
        #"{"messageID":"\#(message)","contentID":"\#(id)"}"#,
        #"{"messageID":"\#(message)","version":0,"contentID":"\#(id)"}"#,
        #"{"messageID":"\#(message)","version":"1","contentID":"\#(id)"}"#,
        #"{"messageID":"\#(message)","version":1}"#,
        #"{"messageID":"\#(message)","version":1,"contentID":"\#(id)","customerCookie":"123456789012345678901234567890123"}"#,
        "[]", "",
    ])
    func `a request that lacks something is refused`(_ body: String) async throws {
        try await withService(ExpressPlayService.init) { stage in
            let reply = try await stage.send(
                "POST", "/sees/SEESServlet", ["Content-Type": "application/json"], Data(body.utf8))
            #expect(reply.status == 400)
            #expect(reply.text.contains(#""isAllowed":false"#))
        }
    }
}

extension ServiceStage<ExpressPlayService> {
    fileprivate func ask(
        content: String = Stage.videoKeyID, members: String = "", query: String = ""
    ) async throws -> Reply {
        let body =
            #"{"messageID":"11111111-2222-3333-4444-555555555555","version":1,"contentID":"\#(content)"\#(members)}"#
        return try await send(
            "POST", "/sees/SEESServlet\(query)", ["Content-Type": "application/json"], Data(body.utf8))
    }
}
