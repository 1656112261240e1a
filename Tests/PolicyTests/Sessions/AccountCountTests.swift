import Foundation
import LatchkeyCore
import LatchkeyFairPlay
import LatchkeyTesting
import Testing

@testable import LatchkeyEngines
@testable import LatchkeyLicensing
@testable import LatchkeyPolicy
@testable import LatchkeyVault

/// What an account counts: each count alone, in an account of its own, so that nothing else keeps the record.
@Suite(.timeLimit(.minutes(1))) struct AccountCountTests {
    private let scene = BookScene()

    private func word(
        _ book: AccountBook, _ policy: String, _ session: String, _ change: (inout Facts) -> Void = { _ in }
    ) async throws -> String {
        await book.decide(BookScene.facts(session, change), by: try Scene.policy(policy)).decision.word
    }

    @Test func `a download without an end counts for ever`() async throws {
        let (book, policy) = (scene.book(), #""download":{"allow":true,"perAccount":1}"#)
        #expect(try await word(book, policy, "a") { $0.ask.purpose = .download } == "license")
        scene.clock.advance(by: .seconds(86_400 * 365))
        #expect(try await word(book, policy, "b") { $0.ask.purpose = .download } == "downloadLimit")
    }

    @Test(arguments: [LicenseAsk.Purpose.stream, .download])
    func `licenses within a minute are limited, whatever they are for`(_ purpose: LicenseAsk.Purpose) async throws {
        let (book, policy) = (scene.book(), #""download":{"allow":true},"limits":{"licensesPerMinute":2}"#)
        for expected in ["license", "license", "rateLimit"] {
            #expect(try await word(book, policy, "a") { $0.ask.purpose = purpose } == expected)
        }
    }

    @Test func `the renewal of an unknown device does not make it known`() async throws {
        let (book, policy) = (scene.book(), #""devices":{"limit":1}"#)
        #expect(try await word(book, policy, "a") == "license")
        #expect(try await word(book, policy, "b") { $0.ask.playback = .leaseExpiring } == "license")
        #expect(try await book.account("anna", of: "demo").devices.keys.sorted() == ["device-of-a"])
        #expect(try await word(book, policy, "a") == "license")
    }

    @Test func `of two policies' windows the longer one keeps a device`() async throws {
        let book = scene.book()
        let (month, day) = (#""devices":{"limit":9,"window":"30d"}"#, #""devices":{"limit":9,"window":"1d"}"#)
        _ = try await word(book, month, "a")
        _ = try await word(book, day, "a") { $0.key.content = "other" }
        scene.clock.advance(by: .seconds(2 * 86_400))
        _ = try await word(book, month, "b") { $0.now = Scene.now + 2 * 86_400 }
        #expect(try await book.account("anna", of: "demo").devices.keys.sorted() == ["device-of-a", "device-of-b"])
    }

    @Test func `a key whose heartbeats are more frequent does not shorten the playback's slot`() async throws {
        let book = scene.book()
        func policy(_ heartbeat: String) throws -> Policy {
            try Scene.policy(
                BookScene.lease + #","concurrency":{"limit":1,"heartbeat":"\#(heartbeat)","grace":"10s"}"#)
        }
        let long = await book.decide(
            BookScene.facts("s") { $0.key.track = .audio }, by: try policy("60s"))
        let short = await book.decide(BookScene.facts("s") { $0.key.track = .hd }, by: try policy("30s"))
        let end = Scene.now + 130
        #expect(await book.heartbeat(try #require(long.heartbeatToken), of: "demo") == .continues(until: end))
        #expect(await book.heartbeat(try #require(short.heartbeatToken), of: "demo") == .continues(until: end))
    }

    @Test func `a failed license takes no slot that another key of the playback renewed in the same moment`()
        async throws
    {
        let (book, policy) = (scene.book(), try Scene.policy(BookScene.one))
        let first = await book.decide(BookScene.facts("s") { $0.key.track = .audio }, by: policy)
        _ = await book.decide(BookScene.facts("s") { $0.key.track = .hd }, by: policy)
        await book.undo(first)
        #expect(try await book.slots() == ["s"])
    }

    @Test func `a store that refuses the server is out of service, and is left alone`() async throws {
        let calls = Locked(0)
        let book = scene.book(
            InterruptedStore(
                store: scene.store,
                before: { _, _ throws(StoreError) in
                    calls.withLock { $0 += 1 }
                    throw StoreError(.misconfigured, "interrupted", reason: "Odd.")
                }))
        for _ in 0..<6 { _ = try await word(book, BookScene.one, "s") }
        #expect(calls.withLock { $0 } == 5)
        #expect(scene.events.withLock { $0 }.first == .outageBegan(.sessionStore))
    }
}
