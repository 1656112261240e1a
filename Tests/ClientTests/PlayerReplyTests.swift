import Foundation
@_spi(Adapters) import Latchkey
import LatchkeyCore
import Testing

/// An adapter's answer to its player.
@Suite struct PlayerReplyTests {
    @Test func `only one answer counts`() {
        let reply = PlayerReply()
        #expect(reply.resolve(.success(Data())))
        #expect(!reply.resolve(.failure(.released)))
        #expect(reply.state.isAnswered)
    }

    @Test func `an abandoned player gets no answer`() {
        let reply = PlayerReply()
        reply.abandon()
        #expect(!reply.resolve(.success(Data())))
        #expect(reply.state.isAbandoned)
    }

    @Test func `a refusal stays known`() {
        let reply = PlayerReply()
        #expect(reply.resolve(.failure(.released)))
        #expect(reply.state.refusal?.kind == .cancelled)
    }
}

/// Keys as players name them.
@Suite struct PlayerIdentifierTests {
    @Test func `a player names a key by a text or an URL`() throws {
        let url = try #require(URL(string: "skd://host/path?a=b"))
        let key: KeyURI = "skd://host/path?a=b"
        #expect(KeyURI(playerIdentifier: "skd://host/path?a=b") == key)
        #expect(KeyURI(playerIdentifier: url) == key)
        #expect(KeyURI(playerIdentifier: url as NSURL) == key)
    }

    @Test(arguments: [nil, "", 7] as [(any Sendable)?])
    func `anything else names none`(_ identifier: (any Sendable)?) {
        #expect(KeyURI(playerIdentifier: identifier) == nil)
    }
}
