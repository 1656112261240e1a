import Foundation
import LatchkeyCore
import LatchkeyTesting
import SwitchedStores
import Testing

@testable import LatchkeyLicensing
@testable import LatchkeyServer

/// Names that count once: sign-ins and ended sessions.
@Suite(.timeLimit(.minutes(1))) struct OneTimeNamesTests {
    private let store = SwitchedRecordStore(timekeeper: ManualTimekeeper())

    private func names(limit: Int = 10_000, _ lines: LineWriter = LineWriter { _ in }) -> OneTimeNames {
        let pseudonyms = UserPseudonyms(secret: Secret("0123456789abcdef"))
        let log = ServerLog(lines, pseudonyms: pseudonyms)
        return OneTimeNames(store, log, timekeeper: ManualTimekeeper(), limit: limit)
    }

    @Test func `while the store is down, no number of sign-ins revives an ended session`() async {
        store.setDown(true)
        let names = names(limit: 10)
        #expect(await names.spend(.session("a"), for: .seconds(60)))
        for number in 0..<50 { #expect(await names.spend(.signIn("\(number)"), for: .seconds(60))) }
        #expect(await names.isSpent(.session("a")))
        #expect(await names.isSpent(.session("b")) == false)
        #expect(await names.spend(.signIn("49"), for: .seconds(60)) == false)
    }

    @Test func `a store's outage is logged once until it answers`() async {
        let written = Locked(Data())
        let lines = LineWriter { data in written.withLock { $0.append(data) } }
        let names = names(lines)
        for isDown in [true, true, true, false, true, true] {
            store.setDown(isDown)
            #expect(await names.isSpent(.session("a")) == false)
        }
        await lines.flush()
        #expect(written.withLock { $0 }.count { $0 == UInt8(ascii: "\n") } == 2)
    }

    @Test func `nodes share both through the store, and a sign-in differs from a session of its name`() async {
        let (one, other) = (names(), names())
        #expect(await one.spend(.session("a"), for: .seconds(60)))
        #expect(await one.spend(.signIn("b"), for: .seconds(60)))
        #expect(await other.isSpent(.session("a")))
        #expect(await other.spend(.signIn("b"), for: .seconds(60)) == false)
        #expect(await other.isSpent(.session("b")) == false)
        #expect(await other.spend(.signIn("a"), for: .seconds(60)))
    }
}
