import Foundation
import LatchkeyCore
import LatchkeyDevice
import LatchkeyFairPlay
import LatchkeyServices
import Testing

/// Device binding: playback registers the device; later tokens are valid only there. Source: `Documentation/Vendors/ExpressPlay.md`.
@Suite(.timeLimit(.minutes(5))) struct ExpressPlayBindingTests {
    @Test func `a registered device gets licenses by bound tokens, and another device is refused`() async throws {
        try await withService(ExpressPlayService.init) { stage in
            let registration = try await stage.tokenURL(type: 2, cookie: "viewer-1")
            #expect(try await stage.play(registration, on: "latchkey-simulator-1").status == 200)
            let bound = try await stage.tokenURL(type: 3, cookie: "viewer-1")
            #expect(try await stage.play(bound, on: "latchkey-simulator-1").status == 200)
            let other = try await stage.play(bound, on: "latchkey-simulator-2")
            #expect(other.status == 401)
            #expect(other.text.contains("-4001"))
        }
    }

    @Test func `a token that only registers works on any device and binds to the latest`() async throws {
        try await withService(ExpressPlayService.init) { stage in
            let registration = try await stage.tokenURL(type: 2, cookie: "viewer-1")
            #expect(try await stage.play(registration, on: "latchkey-simulator-1").status == 200)
            #expect(try await stage.play(registration, on: "latchkey-simulator-2").status == 200)
            let bound = try await stage.tokenURL(type: 3, cookie: "viewer-1")
            #expect(try await stage.play(bound, on: "latchkey-simulator-1").status == 401)
            #expect(try await stage.play(bound, on: "latchkey-simulator-2").status == 200)
        }
    }

    @Test func `binding needs a registered device, and each viewer has a separate one`() async throws {
        try await withService(ExpressPlayService.init) { stage in
            let registration = try await stage.tokenURL(type: 2, cookie: "viewer-1")
            let early = try await stage.ask(type: "3", cookie: "viewer-1")
            #expect(early.status == 200)
            #expect(early.text.contains(#""isAllowed":false"#))
            #expect(try early.member("error") == "-4001")
            #expect(try await stage.play(registration, on: "latchkey-simulator-1").status == 200)
            #expect(try await stage.ask(type: "3", cookie: "viewer-1").text.contains(#""isAllowed":true"#))
            #expect(try await stage.ask(type: "3", cookie: "viewer-2").member("error") == "-4001")
        }
    }

    @Test func `a time-based token needs no device`() async throws {
        try await withService(ExpressPlayService.init) { stage in
            let url = try await stage.tokenURL(type: 1, cookie: "viewer-1")
            #expect(try await stage.play(url, on: "latchkey-simulator-1").status == 200)
            #expect(try await stage.play(url, on: "latchkey-simulator-2").status == 200)
            #expect(try await stage.ask(type: "3", cookie: "viewer-1").member("error") == "-4001")
        }
    }
}

extension ServiceStage<ExpressPlayService> {
    fileprivate func ask(type: String, cookie: String?) async throws -> Reply {
        let member = cookie.map { #","customerCookie":"\#($0)""# } ?? ""
        let body = """
            {"messageID":"11111111-2222-3333-4444-555555555555","version":1,"contentID":"\(Stage.videoKeyID)",\
            "requestType":\(type)\(member)}
            """
        return try await send("POST", "/sees/SEESServlet", ["Content-Type": "application/json"], Data(body.utf8))
    }

    fileprivate func tokenURL(type: Int, cookie: String) async throws -> String {
        let url = try await ask(type: "\(type)", cookie: cookie).member("epTokenURL")
        return String(try #require(url).dropFirst("http://127.0.0.1:\(port)/expressplay".count))
    }

    /// The reply to a license request of a device.
    fileprivate func play(_ path: String, on identifier: String) async throws -> Reply {
        let device = try SimulatedDevice(
            certificate: Stage.credentials.credential.certificate,
            applicationSecret: Stage.credentials.applicationSecret, identifier: Secret(identifier), timekeeper: time)
        var generator = SystemRandomNumberGenerator()
        let exchange = try device.exchange(for: ContentIdentifier(Stage.videoKeyID), using: &generator)
        return try await send("POST", path, [:], exchange.spc.revealed)
    }
}
