import Foundation
@_spi(Adapters) import Latchkey
import LatchkeyCore
import Testing

@testable import LatchkeyAVFoundation

/// The requests of one content key session.
@Suite struct SessionRequestsTests {
    /// The player's own object for a request or an asset.
    private final class Name: Sendable {}

    private final class Request: ReplyingKeyRequest {
        let keyURI: KeyURI
        let asset: AssetID?
        let reply = PlayerReply()

        init(_ keyURI: KeyURI = "skd://one", of asset: AssetID? = nil) { (self.keyURI, self.asset) = (keyURI, asset) }

        func makeSPC(certificate: Data, contentIdentifier: Data) async throws -> Data { Data() }

        func answer(_ result: Result<Data, ContentKeyError>) { _ = reply.resolve(result) }
    }

    private typealias Requests = SessionRequests<Request>

    @Test func `a request is added once until the player is done with it`() {
        let (request, name) = (Request(), Name())
        var requests = Requests()
        let entered = (1...2).map { _ in requests.add(request, as: name, for: nil) }
        let failed = (1...2).map { _ in requests.fail(name) }
        let again = requests.add(request, as: name, for: nil)
        #expect(entered == [true, false])
        #expect(failed[0] === request)
        #expect(failed[1] == nil)
        #expect(again)
    }

    @Test func `a key is contained while it is requested and while it is held`() {
        let (request, name) = (Request(), Name())
        var requests = Requests()
        _ = requests.add(request, as: name, for: nil)
        #expect(requests.contains(request.keyURI))
        _ = requests.succeed(name)
        #expect(requests.contains(request.keyURI))
        requests.keyEnded(request)
        #expect(!requests.contains(request.keyURI))
    }

    @Test func `the newest request holds the key, whichever ends last`() {
        let (old, new, oldName, newName) = (Request(), Request(), Name(), Name())
        var requests = Requests()
        _ = requests.add(old, as: oldName, for: nil)
        _ = requests.add(new, as: newName, for: nil)
        _ = requests.succeed(newName)
        _ = requests.succeed(oldName)
        requests.keyEnded(old)
        let renewing = requests.retryRenewal(of: old.keyURI)
        #expect(renewing === new)
    }

    @Test func `an abandoned request is removed with the one that replaced it`() {
        let (first, second, firstName, secondName) = (Request(), Request(), Name(), Name())
        var requests = Requests()
        _ = requests.add(first, as: firstName, for: nil)
        _ = requests.add(second, as: secondName, for: nil)
        first.reply.abandon()
        _ = requests.fail(secondName)
        #expect(!requests.contains(first.keyURI))
    }

    @Test func `each reason to retry has a count until the player takes the key`() {
        let (request, name) = (Request(), Name())
        var requests = Requests(retries: 1)
        let retried = ["late", "other", "late"].map { reason in
            _ = requests.add(request, as: name, for: nil)
            return requests.retry(name, because: reason) != nil
        }
        #expect(retried == [true, true, false])
        _ = requests.succeed(name)
        _ = requests.add(request, as: name, for: nil)
        let retriedLater = requests.retry(name, because: "late")
        #expect(retriedLater === request)
    }

    @Test func `consecutive stale SPCs are reported once`() {
        let stale = NSError(domain: "CoreMediaErrorDomain", code: -42669)
        var requests = Requests(stuckAfter: 2)
        let reports = [stale, NSError(domain: "Other", code: 1), stale, stale, stale].map {
            requests.isStuck(after: $0)
        }
        #expect(reports == [false, false, false, true, false])
    }

    @Test func `an owner's requests are removed with it, and those without an owner with the last one`() {
        let (one, two, nobodys) = (Request("skd://one"), Request("skd://two"), Request("skd://nobody"))
        let (first, second, names) = (Name(), Name(), [Name(), Name(), Name()])
        var requests = Requests()
        requests.addOwner(first)
        // There is only one owner, so it must be the one that asks.
        _ = requests.add(one, as: names[0], for: nil)
        requests.addOwner(second)
        _ = requests.add(two, as: names[1], for: ObjectIdentifier(second))
        _ = requests.add(nobodys, as: names[2], for: nil)
        let withFirst = requests.removeOwner(first).map(\.keyURI)
        let withSecond = Set(requests.removeOwner(second).map(\.keyURI))
        #expect(withFirst == [one.keyURI])
        #expect(withSecond == [two.keyURI, nobodys.keyURI])
        #expect(!requests.hasOwners)
    }

    @Test func `a request of an unknown owner, as an interstitial's, belongs to the only owner`() {
        let (request, main, interstitial, name) = (Request(), Name(), Name(), Name())
        var requests = Requests()
        requests.addOwner(main)
        _ = requests.add(request, as: name, for: ObjectIdentifier(interstitial))
        let left = requests.removeOwner(main)
        #expect(left.map(\.keyURI) == [request.keyURI])
    }

    @Test func `a key is removed once`() {
        let (request, name) = (Request(), Name())
        var requests = Requests()
        _ = requests.add(request, as: name, for: nil)
        _ = requests.succeed(name)
        let taken = requests.remove(request.keyURI)
        let again = requests.remove(request.keyURI)
        #expect(taken === request && again == nil)
    }

    @Test func `removing everything starts over under another identity`() {
        let (request, name) = (Request(), Name())
        var requests = Requests()
        _ = requests.add(request, as: name, for: nil)
        let player = requests.player
        let left = requests.removeAll()
        #expect(left.count == 1)
        #expect(!requests.contains(request.keyURI))
        #expect(requests.player != player)
    }

    @Test
    func `a key's title is that of the owner that asks, the one named with it, an earlier one, or the only owner's`() {
        let (one, two, stranger) = (Name(), Name(), Name())
        let key: KeyURI = "skd://one"
        var requests = Requests()
        #expect(requests.asset(of: key) == nil)
        requests.addOwner(one, as: "one")
        // Before version 26 the system names no owner.
        #expect(requests.asset(of: key) == "one")
        requests.addOwner(two, as: "two")
        #expect(requests.asset(of: key) == nil && requests.asset(of: key, for: ObjectIdentifier(stranger)) == nil)
        #expect(requests.asset(of: key, for: ObjectIdentifier(two)) == "two")
        let (request, name) = (Request(key, of: "two"), Name())
        _ = requests.add(request, as: name, for: ObjectIdentifier(two))
        #expect(requests.asset(of: key) == "two")
        _ = requests.succeed(name)
        #expect(requests.asset(of: key) == "two")
        requests.name("one", of: key)
        #expect(requests.asset(of: key) == "one" && requests.asset(of: key, for: ObjectIdentifier(two)) == "two")
        _ = requests.removeOwner(one)
        #expect(requests.asset(of: key) == "two")
        _ = requests.removeAll()
        #expect(requests.asset(of: key) == nil)
    }
}
