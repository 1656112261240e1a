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
        let entered = (1...2).map { _ in requests.add(request, as: name) }
        let failed = (1...2).map { _ in requests.fail(name) }
        let again = requests.add(request, as: name)
        #expect(entered == [true, false])
        #expect(failed[0] === request)
        #expect(failed[1] == nil)
        #expect(again)
    }

    @Test func `a key is known while it is requested and when the session took it`() {
        let (request, name) = (Request(), Name())
        var requests = Requests()
        #expect(requests.isEmpty)
        _ = requests.add(request, as: name)
        #expect(requests.keys == [request.keyURI] && requests.isOpen(request.keyURI) && requests[request.keyURI] == nil)
        let taken = requests.succeed(name)
        #expect(taken === request && requests[request.keyURI] === request)
        #expect(requests.keys == [request.keyURI] && !requests.isOpen(request.keyURI) && !requests.isEmpty)
    }

    @Test func `a key that the session did not take is not known`() {
        let (request, name) = (Request(), Name())
        var requests = Requests()
        _ = requests.add(request, as: name)
        _ = requests.fail(name)
        #expect(requests.isEmpty && requests.keys.isEmpty)
    }

    @Test func `a session renews a key by its newest request, whichever ends last`() {
        let (old, new, oldName, newName) = (Request(), Request(), Name(), Name())
        var requests = Requests()
        _ = requests.add(old, as: oldName)
        _ = requests.add(new, as: newName)
        _ = requests.succeed(newName)
        _ = requests.succeed(oldName)
        let renewing = requests.retryRenewal(of: old.keyURI)
        #expect(renewing === new)
    }

    @Test func `an abandoned request is removed with its replacement`() {
        let (first, second, firstName, secondName) = (Request(), Request(), Name(), Name())
        var requests = Requests()
        _ = requests.add(first, as: firstName)
        _ = requests.add(second, as: secondName)
        first.reply.abandon()
        _ = requests.fail(secondName)
        #expect(!requests.isOpen(first.keyURI))
    }

    @Test func `each reason to retry has a count until the player takes the key`() {
        let (request, name) = (Request(), Name())
        var requests = Requests(retries: 1)
        let retried = ["late", "other", "late"].map { reason in
            _ = requests.add(request, as: name)
            return requests.retry(name, because: reason) != nil
        }
        #expect(retried == [true, true, false])
        _ = requests.succeed(name)
        _ = requests.add(request, as: name)
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

    @Test func `open requests are listed oldest first`() {
        let all = (1...5).map { Request(KeyURI("skd://\($0)")) }
        let names = all.map { _ in Name() }
        var requests = Requests()
        for (request, name) in zip(all, names) { _ = requests.add(request, as: name) }
        #expect(requests.openRequests.map(\.keyURI) == all.map(\.keyURI))
    }

    @Test func `the app's name for a key is kept until it gives another`() {
        let key: KeyURI = "skd://one"
        var requests = Requests()
        #expect(requests.asset(of: key) == nil)
        requests.name("one", of: key)
        requests.name(nil, of: key)
        #expect(requests.asset(of: key) == "one")
        requests.name("two", of: key)
        #expect(requests.asset(of: key) == "two")
    }
}
