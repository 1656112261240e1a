import Foundation
import Latchkey
import LatchkeyCore
import Testing

/// What an adapter knows of its player's requests.
@Suite struct KeyRequestLedgerTests {
    /// What a player names requests and assets by.
    private final class Name: Sendable {}

    private final class Request: SlottedKeyRequest {
        let keyURI: KeyURI
        let slot = KeyRequestSlot()

        init(_ keyURI: KeyURI = "skd://one") { self.keyURI = keyURI }

        func makeSPC(certificate: Data, contentIdentifier: Data) async throws -> Data { Data() }

        func answer(_ result: Result<Data, ContentKeyError>) { _ = slot.takeTurn(result) }
    }

    private typealias Ledger = KeyRequestLedger<Request>

    @Test func `a request is entered once until the player is done with it`() {
        let (request, name) = (Request(), Name())
        var ledger = Ledger()
        let entered = (1...2).map { _ in ledger.enter(request, as: name, for: nil) }
        let failed = (1...2).map { _ in ledger.fail(name) }
        let again = ledger.enter(request, as: name, for: nil)
        #expect(entered == [true, false])
        #expect(failed[0] === request)
        #expect(failed[1] == nil)
        #expect(again)
    }

    @Test func `a key is known while it is on its way and while it is there`() {
        let (request, name) = (Request(), Name())
        var ledger = Ledger()
        _ = ledger.enter(request, as: name, for: nil)
        #expect(ledger.knows(request.keyURI))
        _ = ledger.succeed(name)
        #expect(ledger.knows(request.keyURI))
        ledger.end(request)
        #expect(!ledger.knows(request.keyURI))
    }

    @Test func `the newest request holds the key, whichever ends last`() {
        let (old, new, oldName, newName) = (Request(), Request(), Name(), Name())
        var ledger = Ledger()
        _ = ledger.enter(old, as: oldName, for: nil)
        _ = ledger.enter(new, as: newName, for: nil)
        _ = ledger.succeed(newName)
        _ = ledger.succeed(oldName)
        ledger.end(old)
        let renewing = ledger.retryRenewal(of: old.keyURI)
        #expect(renewing === new)
    }

    @Test func `a request whose place another took goes with it`() {
        let (first, second, firstName, secondName) = (Request(), Request(), Name(), Name())
        var ledger = Ledger()
        _ = ledger.enter(first, as: firstName, for: nil)
        _ = ledger.enter(second, as: secondName, for: nil)
        first.slot.abandon()
        _ = ledger.fail(secondName)
        #expect(!ledger.knows(first.keyURI))
    }

    @Test func `each reason to retry has a count until the player takes the key`() {
        let (request, name) = (Request(), Name())
        var ledger = Ledger(retries: 1)
        let retried = ["late", "other", "late"].map { reason in
            _ = ledger.enter(request, as: name, for: nil)
            return ledger.retry(name, because: reason) != nil
        }
        #expect(retried == [true, true, false])
        _ = ledger.succeed(name)
        _ = ledger.enter(request, as: name, for: nil)
        let retriedLater = ledger.retry(name, because: "late")
        #expect(retriedLater === request)
    }

    @Test func `stale SPCs in a row are told of once`() {
        let stale = NSError(domain: "CoreMediaErrorDomain", code: -42669)
        var ledger = Ledger(stuckAfter: 2)
        let told = [stale, NSError(domain: "Other", code: 1), stale, stale, stale].map { ledger.isStuck(after: $0) }
        #expect(told == [false, false, false, true, false])
    }

    @Test func `an owner's requests go with it, and those of nobody with the last owner`() {
        let (one, two, nobodys) = (Request("skd://one"), Request("skd://two"), Request("skd://nobody"))
        let (first, second, names) = (Name(), Name(), [Name(), Name(), Name()])
        var ledger = Ledger()
        ledger.join(first)
        // There is one owner only, who must be the one who asks.
        _ = ledger.enter(one, as: names[0], for: nil)
        ledger.join(second)
        _ = ledger.enter(two, as: names[1], for: ObjectIdentifier(second))
        _ = ledger.enter(nobodys, as: names[2], for: nil)
        let withFirst = ledger.leave(first).map(\.keyURI)
        let withSecond = Set(ledger.leave(second).map(\.keyURI))
        #expect(withFirst == [one.keyURI])
        #expect(withSecond == [two.keyURI, nobodys.keyURI])
        #expect(!ledger.hasOwners)
    }

    @Test func `another session begins with nothing, under another name`() {
        let (request, name) = (Request(), Name())
        var ledger = Ledger()
        _ = ledger.enter(request, as: name, for: nil)
        let player = ledger.player
        let left = ledger.leaveAll()
        #expect(left.count == 1)
        #expect(!ledger.knows(request.keyURI))
        #expect(ledger.player != player)
    }
}

/// What an adapter told its player.
@Suite struct KeyRequestSlotTests {
    @Test func `the player is told once`() {
        let slot = KeyRequestSlot()
        #expect(slot.takeTurn(.success(Data())))
        #expect(!slot.takeTurn(.failure(.released)))
        #expect(slot.phase.isAnswered)
    }

    @Test func `a player that gave up is told nothing`() {
        let slot = KeyRequestSlot()
        slot.abandon()
        #expect(!slot.takeTurn(.success(Data())))
        #expect(slot.phase.isClosed)
    }

    @Test func `a refusal stays known`() {
        let slot = KeyRequestSlot()
        #expect(slot.takeTurn(.failure(.released)))
        #expect(slot.phase.refusal?.kind == .cancelled)
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
