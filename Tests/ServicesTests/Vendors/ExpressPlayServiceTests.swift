import Foundation
import LatchkeyCore
import LatchkeyDevice
import LatchkeyServices
import LatchkeyTesting
import Testing

@Suite(.timeLimit(.minutes(5))) struct ExpressPlayServiceTests {
    private static let id = Stage.videoKeyID

    @Test func `a key URI is the same in every playlist until half of its token's time is over`() throws {
        let time = ManualTimekeeper()
        let authority = try Stage.authority()
        let service = ExpressPlayService(ServiceEnvironment(authority: authority, time: time))
        let key = try #require(authority.keys.keys.first)
        let first = service.keyURI(for: key, at: "a.example")
        time.advance(by: .seconds(60))
        #expect(service.keyURI(for: key, at: "a.example") == first)
        time.advance(by: .seconds(15 * 86_400))
        #expect(service.keyURI(for: key, at: "a.example") != first)
    }

    @Test(arguments: ["127.0.0.1", id, "anything"])
    func `the key URI with another scheme is the license URL, whatever the SPC says`(
        _ identifier: String
    ) async throws {
        try await withService(ExpressPlayService.init) { stage in
            #expect(stage.keyURI.host == "127.0.0.1:\(stage.port)")
            #expect(stage.keyURI.queryValue("ExpressPlayToken")?.count == 59)
            #expect(stage.keyURI.remainder.utf8.count <= 200)
            let exchange = try stage.exchange(identifier)
            let reply = try await stage.license(stage.keyURI.query ?? "", exchange.spc.revealed)
            #expect(reply.status == 200)
            #expect(try stage.opensVideo(reply.body, exchange))
            #expect(stage.warnings.isEmpty)
        }
    }

    @Test func `a token with a flipped bit, or of another service, is refused`() async throws {
        try await withService(ExpressPlayService.init) { stage in
            let spc = try stage.exchange(Self.id).spc.revealed
            let token = try #require(stage.keyURI.queryValue("ExpressPlayToken"))
            let changed = (token.first == "A" ? "B" : "A") + token.dropFirst()
            let foreign = ExpressPlayService(stage.service.environment).token(for: try #require(KeyID(Self.id)))
            for bad in [changed, foreign.revealedText] {
                let reply = try await stage.license("errorFormat=json&ExpressPlayToken=\(bad)", spc)
                #expect(try reply.member("errorCode") == "-4010")
            }
        }
    }
}

extension ServiceStage<ExpressPlayService> {
    fileprivate func license(_ query: String, _ spc: Data) async throws -> Reply {
        try await send("POST", "/hms/fp/rights/?\(query)", ["Content-Type": "application/octet-stream"], spc)
    }
}
