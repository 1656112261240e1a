import Foundation
import LatchkeyCore
import TLSPeer
import Testing

@testable import LatchkeyForms
@testable import LatchkeyLicensing
@testable import LatchkeyServer
@testable import LatchkeyServerTool

/// How many read events at once.
@Suite(.timeLimit(.minutes(1))) struct EventReaderTests {
    @Test func `of readers that come at once no more are taken than there may be`() async throws {
        try await ServerUnderTest.run { test in
            let address = try #require(URL(string: test.server.addresses.operators.url)?.port)
            let port = try #require(UInt16(exactly: address))
            let request =
                "GET /admin/v1/events HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer \(ServerUnderTest.key(.viewer))\r\n\r\n"
            let readers = try (0..<60).map { _ in try LocalSocket(port) }
            for reader in readers { reader.send(Data(request.utf8)) }
            var statuses: [Int?] = []
            for reader in readers { statuses.append(try await reader.readStatus()) }
            #expect(statuses.count { $0 == 200 } == OperatorFeed.mostReaders)
            #expect(statuses.count { $0 == 503 } == 60 - OperatorFeed.mostReaders)
        }
    }

    @Test func `events that nobody reads give their place back`() {
        let feed = OperatorFeed()
        for _ in 0..<(3 * OperatorFeed.mostReaders) { #expect(feed.events { _ in .null } != nil) }
        let held = (0..<OperatorFeed.mostReaders).map { _ in feed.events { _ in .null } }
        #expect(feed.events { _ in .null } == nil)
        withExtendedLifetime(held) {}
    }
}
