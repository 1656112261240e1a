import Foundation
import LatchkeyCore
import LatchkeyTesting
import Testing

@testable import LatchkeyDecision
@testable import LatchkeyLicensing
@testable import LatchkeySystem
@testable import LatchkeyVault

/// The traces of licenses in accounts, and their form in records.
@Suite(.timeLimit(.minutes(5))) struct AccountStateTests {
    private static let seeds: [UInt64] = [1, 2, 3, 4]

    private static func each(_ seed: UInt64, _ body: (inout RandomScene) throws -> Void) rethrows {
        for number in 0..<100 {
            var scene = RandomScene(seed &* 1_000_003 &+ UInt64(number))
            try body(&scene)
        }
    }

    /// As records and decisions hold dates: in milliseconds.
    private static func account(_ scene: inout RandomScene) -> AccountState {
        var account = scene.facts().account
        (account.tokenUse, account.outages) = (nil, [])
        return account
    }

    @Test(arguments: seeds) func `applying a renewal twice equals once`(_ seed: UInt64) throws {
        var renewals = 0
        try Self.each(seed) { scene in
            var facts = scene.facts()
            facts.account = Self.account(&scene)
            let policy = try Scene.policy(AccountScene.lease + #","concurrency":{"limit":9,"mode":"stopOldest"}"#)
            guard case .renew = decide(facts, by: policy).change else { return }
            renewals += 1
            let change = decide(facts, by: policy).change
            let once = facts.account.applying(change, at: facts.now, fence: 1_000)
            #expect(once.applying(change, at: facts.now, fence: 2_000) == once)
        }
        #expect(renewals > 0)
    }

    @Test(arguments: seeds) func `an account is the same after it was in a record`(_ seed: UInt64) throws {
        try Self.each(seed) { scene in
            let account = Self.account(&scene)
            let read = try AccountState(recordBytes: account.recordBytes, engine: "test")
            #expect(Set(read.slots) == Set(account.slots))
            #expect(read.recordBytes == account.recordBytes)
            #expect(
                (read.devices, read.downloads, read.minute?.licenses) == (
                    account.devices, account.downloads, account.minute?.licenses
                ))
            #expect((read.firstPlays, read.deviceWindow) == (account.firstPlays, account.deviceWindow))
        }
    }

    @Test(arguments: seeds) func `slots are counted in a record without reading the rest`(_ seed: UInt64) throws {
        var counts: Set<Int> = []
        try Self.each(seed) { scene in
            let account = Self.account(&scene)
            let bytes = account.recordBytes
            let read = try AccountState(recordBytes: bytes, engine: "test")
            #expect(AccountState.slotEnds(inRecordBytes: bytes) == read.slots.map(\.ends))
            counts.insert(read.slots.count)
            // A byte that is missing is missed, and one that changed breaks nothing.
            for index in bytes.indices {
                let short = AccountState.slotEnds(inRecordBytes: Array(bytes.prefix(index)))
                #expect(short == nil || short == read.slots.map(\.ends))
                var changed = bytes
                changed[index] ^= 0xff
                _ = AccountState.slotEnds(inRecordBytes: changed)
            }
        }
        #expect(counts.count > 1)
    }

    @Test func `a FairPlay session keeps its old form, and each other system is read back`()
        throws
    {
        var account = AccountState()
        account.slots = [Scene.slot("a", fence: 2)]
        // Version, one slot: "a", no device, label and profile, "movie", the class HD, fence 2; behind it dates and empty lists.
        let known: [UInt8] = [1, 1, 1, 97, 0, 0, 0, 5] + Array("movie".utf8) + [4, 2]
        #expect(account.recordBytes.prefix(known.count) == known[...])
        for drm in LicenseRequestFacts.DRM.allCases {
            account.slots[0].drm = drm
            let read = try AccountState(recordBytes: account.recordBytes, engine: "test")
            #expect(read.slots == account.slots)
        }
    }

    @Test func `the licenses of a minute are kept until it is over`() {
        var account = AccountState()
        account.minute = .init(began: Scene.now, licenses: 3)
        #expect(account.kept(at: Scene.now + 59).minute == account.minute)
        #expect(account.kept(at: Scene.now + 60).minute == nil)
    }

    @Test func `a damaged record is reported for any changed or missing byte`() throws {
        var account = AccountState()
        account.slots = [Scene.slot("a", fence: 1_795_359_600_000_000, device: "TV", profile: "kid")]
        account.stop("b", by: "TV", at: Scene.now)
        (account.devices, account.deviceWindow) = (["d": Scene.now], .seconds(60))
        account.downloads = [StoredDownload(content: "c", device: "d", ends: Scene.now)]
        (account.firstPlays, account.minute) = (["c": Scene.now], .init(began: Scene.now, licenses: 3))
        let bytes = account.recordBytes
        for index in bytes.indices {
            #expect(throws: StoreError.self) { try AccountState(recordBytes: Array(bytes.prefix(index)), engine: "e") }
            var changed = bytes
            changed[index] ^= 0x80
            guard let read = try? AccountState(recordBytes: changed, engine: "e") else { continue }
            #expect(read.recordBytes == changed)
        }
        #expect(throws: StoreError.self) { try AccountState(recordBytes: bytes + [0], engine: "e") }
        let use = AccountState.TokenUse(session: "s", first: Scene.now).recordBytes
        #expect(try AccountState.TokenUse(recordBytes: use, engine: "e") == .init(session: "s", first: Scene.now))
        for index in use.indices {
            #expect(throws: StoreError.self) {
                try AccountState.TokenUse(recordBytes: Array(use.prefix(index)), engine: "e")
            }
        }
    }

    @Test(
        arguments: [
            [], [2, 0, 0, 0, 0, 0, 0, 0], [1, 255, 255, 255, 255, 255, 255, 255, 255, 255, 1],
            [1, 255, 255, 255, 255, 255, 255, 255, 255, 255, 2], [1, 0x80, 0, 0, 0, 0, 0, 0, 0],
        ] as [[UInt8]])
    func `counts beyond the end, and other versions, are damage`(_ bytes: [UInt8]) {
        #expect { try AccountState(recordBytes: bytes, engine: "e") } throws: { ($0 as? StoreError)?.kind == .damaged }
    }

    @Test(arguments: seeds) func `random bytes are damage or a canonical record`(_ seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        for _ in 0..<2_000 {
            let count = Int.random(in: 0..<60, using: &generator)
            let bytes =
                [1] + (0..<count).map { _ in UInt8.random(in: 0...(UInt8.random(in: 1...255)), using: &generator) }
            guard let read = try? AccountState(recordBytes: bytes, engine: "e") else { continue }
            #expect(read.recordBytes == bytes)
        }
    }

    /// More of everything than is kept, under the longest names.
    private static var fullAccount: AccountState {
        let name = { (number: Int) in
            String(repeating: "é", count: 500).appending("\(number)").storedName() + String(repeating: "x", count: 64)
        }
        var account = AccountState()
        for number in 0..<130 {
            account.slots.append(
                Slot(
                    session: name(number), device: name(number), label: String(repeating: "界", count: 42),
                    profile: name(number), content: name(number), tracks: Set(TrackClass.allCases), fence: number,
                    started: Scene.now, ends: Scene.now + 300))
            account.stop(name(number + 1_000), by: String(repeating: "界", count: 100), at: Scene.now + Double(number))
        }
        for number in 0..<300 {
            account.devices[name(number)] = Scene.now + Double(number)
            account.firstPlays[name(number)] = Scene.now + Double(number)
            account.downloads.insert(
                StoredDownload(content: name(number), device: name(number), ends: Scene.now + 1 + Double(number)))
        }
        return account
    }

    @Test func `an account is bounded and keeps the newest`() {
        let kept = Self.fullAccount.kept(at: Scene.now)
        #expect(kept.recordBytes.count <= 256 * 1_024)
        #expect((kept.slots.count, kept.stopped.count) == (100, 100))
        #expect((kept.devices.count, kept.downloads.count, kept.firstPlays.count) == (256, 256, 256))
        #expect(kept.slots.map(\.fence).min() == 30)
        #expect(kept.devices.values.min() == Scene.now + 44)
        #expect(kept.kept(at: Scene.now) == kept)
    }

    @Test func `an account drops expired items, and ends with the longest-lived one`() {
        var account = AccountState()
        #expect(account.end(at: Scene.now) == Scene.now)
        account.slots = [Scene.slot("a", fence: 1, ends: 300), Scene.slot("b", fence: 2, ends: 0)]
        #expect(account.kept(at: Scene.now).slots.map(\.session) == ["a"])
        #expect(account.end(at: Scene.now) == Scene.now + 300)
        account.stop("a", by: nil, at: Scene.now)
        #expect(account.end(at: Scene.now) == Scene.now + 86_400)
        account.devices = ["d": Scene.now]
        #expect(account.end(at: Scene.now) == Scene.now + 30 * 86_400)
        account.deviceWindow = .seconds(60)
        #expect(account.kept(at: Scene.now + 60).devices.isEmpty)
        #expect(account.kept(at: Scene.now + 60).deviceWindow == nil)
        account.firstPlays = ["movie": Scene.now]
        #expect(account.end(at: Scene.now) == Scene.now + 315_360_000)
    }

    @Test func `a hundred slots are an account's maximum, whatever is counted`() throws {
        let policy = #""concurrency":{"limit":1,"scope":"title""#
        let full = (0..<100).map { Scene.slot("s\($0)", fence: $0, content: "c\($0)") }
        #expect(try Scene.decision(policy + "}") { $0.account.slots = full }.word == "sessionLimit")
        let stopping = try Scene.decision(policy + #","mode":"stopOldest"}"#) { $0.account.slots = full }
        #expect(stopping.change.stopping == ["s0"])
    }

    @Test func `names that are too long or have control characters are kept as digests`() throws {
        #expect("anna".storedName() == "anna")
        #expect("a\u{0}b".storedName().utf8.count == 64)
        let long = String(repeating: "s", count: 200)
        let decision = try Scene.decision(AccountScene.one) { ($0.grant.session, $0.grant.device) = (long, long) }
        #expect(decision.change.slot?.session == long.storedName())
        let blocked = try Scene.decision(#""blocked":{"devices":["\#(long)"]}"#) { $0.grant.device = long }
        #expect(blocked.word == "blocked")
        #expect(RecordKey.account(String(repeating: "a", count: 600), "t").name.utf8.count == 64)
    }
}
