import Foundation
import LatchkeyTesting
import Testing

@testable import LatchkeyDecision
@testable import LatchkeyForms
@testable import LatchkeyLicensing
@testable import LatchkeyServer
@testable import LatchkeyServerTool

@Suite(.timeLimit(.minutes(5))) struct OperatorFeedTests {
    private func refuse(_ feed: OperatorFeed, _ requestID: String, tenant: String = "a") {
        let report = LicenseReport(tenant: tenant, endpoint: .fairPlay, requestID: requestID, at: .zero)
        feed.refused(LicenseRefusal(.unknownKey, reason: "There is\u{1b} no key."), report)
    }

    @Test func `the latest refusals are kept by tenant and page`() {
        let feed = OperatorFeed(timekeeper: ManualTimekeeper())
        for number in 1...1_200 { refuse(feed, "request-\(number)", tenant: number % 2 == 0 ? "a" : "b") }
        let first = feed.refusals(tenant: "a", before: nil, limit: 2)
        #expect(first.map { $0["requestId"]?.text } == ["request-1200", "request-1198"])
        #expect(feed.refusals(tenant: "a", before: 1_198, limit: 1).first?["number"]?.number == 1_196)
        #expect(feed.refusals(tenant: "", before: nil, limit: 5_000).count == OperatorFeed.mostRefusals)
        #expect(first.first?["reason"]?.text == #"There is\u{1b} no key."#)
    }

    @Test func `a refusal is found by its request among the operator's tenants`() {
        let feed = OperatorFeed(timekeeper: ManualTimekeeper())
        refuse(feed, "request-1", tenant: "a")
        refuse(feed, "request-1", tenant: "b")
        let tenant = { (scope: TenantScope) in feed.refusal(of: "request-1", in: scope)?["tenant"]?.text }
        #expect(tenant(.all) == "b")
        #expect(tenant(.listed(["a"])) == "a" && tenant(.listed(["b"])) == "b")
        #expect(tenant(.listed(["c"])) == nil)
        for name in ["a", "b"] {
            feed.shed(LicenseReport(tenant: name, endpoint: .fairPlay, requestID: "request-2", at: .zero))
        }
        #expect(feed.refusal(of: "request-2", in: .listed(["a"]))?["tenant"]?.text == "a")
    }

    @Test func `readers get an overview each second and refusals as they happen, up to a cap`() async throws {
        let clock = ManualTimekeeper()
        let feed = OperatorFeed(timekeeper: clock)
        let events = try #require(feed.events { _ in .object(["now": .flag(true)]) })
        var iterator = events.makeAsyncIterator()
        let first = await iterator.next()
        #expect(first == Data("event: overview\ndata: {\"now\":true}\n\n".utf8))
        await clock.untilSomeoneSleeps(for: .seconds(1))
        for number in 1...100 { refuse(feed, "request-\(number)") }
        for _ in 0..<OperatorFeed.mostPerSecond {
            let event = await iterator.next()
            #expect(event?.starts(with: Data("event: refusal".utf8)) == true)
        }
        clock.advance(by: .seconds(1))
        let next = await iterator.next()
        #expect(next == first)
    }

    @Test func `readers beyond the limit are refused until one leaves`() async throws {
        let feed = OperatorFeed(timekeeper: ManualTimekeeper())
        var readers = (0..<32).compactMap { _ in feed.events { _ in .null } }
        #expect(readers.count == 32)
        #expect(feed.events { _ in .null } == nil)
        let reader = readers.removeLast()
        let reading = Task { for await _ in reader {} }
        reading.cancel()
        await reading.value
        #expect(feed.events { _ in .null } != nil)
    }

    @Test func `a departing reader does not stop others' overviews; the last one ends them`() async throws {
        let clock = ManualTimekeeper()
        let feed = OperatorFeed(timekeeper: clock)
        let (staying, leaving) = (try #require(feed.events { _ in .null }), try #require(feed.events { _ in .null }))
        let reading = Task { for await _ in leaving {} }
        await clock.untilSomeoneSleeps(for: .seconds(1))
        reading.cancel()
        await reading.value
        let following = Task {
            var iterator = staying.makeAsyncIterator()
            for _ in 0..<2 { _ = await iterator.next() }
        }
        clock.advance(by: .seconds(1))
        await following.value
        let last = Task { for await _ in staying {} }
        last.cancel()
        await last.value
        while clock.sleeperCount > 0 {
            try Task.checkCancellation()
            await Task.yield()
        }
    }
}
