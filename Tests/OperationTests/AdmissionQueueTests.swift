import LatchkeyCore
import LatchkeyLicensing
import Testing

@testable import LatchkeyDecision
@testable import LatchkeyHTTP

@Suite struct AdmissionQueueTests {
    private func refusal(
        _ queue: inout AdmissionQueue<Int>, _ item: Int, _ lane: AdmissionLane = .start, session: UInt64 = 0,
        at now: Duration
    ) -> AdmissionRefusal? {
        do throws(AdmissionRefusal) {
            _ = try queue.add(item, lane, session: session, at: now)
            return nil
        } catch {
            return error
        }
    }

    @Test func `the limit is the threads' work in the target time`() {
        var queue = AdmissionQueue<Int>(threads: 2, rules: AdmissionRules(expectedTime: .milliseconds(1)))
        #expect(queue.limit == 50)
        for item in 0..<50 { #expect(refusal(&queue, item, at: .zero) == nil) }
        #expect(refusal(&queue, 50, at: .zero)?.why == .full)
        for _ in 0..<200 {
            _ = queue.next(at: .zero)
            queue.finished(in: .milliseconds(5))
        }
        #expect(queue.limit == 10)
        for _ in 0..<500 { queue.finished(in: .seconds(1)) }
        #expect(queue.limit == 2)
        #expect(AdmissionQueue<Int>(threads: 64, rules: AdmissionRules(expectedTime: .zero, most: 100)).limit == 100)
    }

    @Test func `first come, first served`() {
        var queue = AdmissionQueue<Int>(threads: 1)
        for item in 0..<10 { _ = refusal(&queue, item, at: .milliseconds(item)) }
        #expect((0..<10).map { _ in queue.next(at: .milliseconds(10)).admitted?.item } == Array(0..<10))
        #expect(queue.next(at: .milliseconds(10)).admitted == nil)
        #expect(queue.busy == 10)
    }

    @Test
    func `once the oldest has waited too long for the interval, the newest is first and late ones are dropped`() {
        var queue = AdmissionQueue<Int>(threads: 1, rules: AdmissionRules(expectedTime: .microseconds(100)))
        for item in 0..<200 { _ = refusal(&queue, item, at: .milliseconds(item)) }
        #expect(queue.next(at: .milliseconds(60)).admitted?.item == 0)
        #expect(!queue.servesNewestFirst)
        #expect(queue.next(at: .milliseconds(159)).admitted?.item == 1)
        let (admitted, dropped) = queue.next(at: .milliseconds(199))
        #expect(queue.servesNewestFirst)
        #expect(admitted?.item == 199)
        #expect(dropped.map(\.item) == Array(2..<124))
        #expect(dropped.allSatisfy { $0.refusal.why == .late })
        #expect(queue.next(at: .milliseconds(199)).admitted?.item == 198)
    }

    @Test(arguments: 1...20 as ClosedRange<UInt64>)
    func `pieces that a thread takes together are the next in order`(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        var alone = AdmissionQueue<Int>(threads: 1, rules: AdmissionRules(expectedTime: .microseconds(100)))
        for item in 0..<100 {
            let lane = AdmissionLane.allCases.randomElement(using: &generator) ?? .start
            _ = refusal(&alone, item, lane, at: .milliseconds(item))
        }
        var together = alone
        var taken: [Int] = []
        while let first = together.next(at: .milliseconds(90)).admitted {
            taken.append(first.item)
            for _ in 0..<Int.random(in: 0...7, using: &generator) {
                together.next(at: .milliseconds(90)) { _ in true }.admitted.map { taken.append($0.item) }
            }
            together.finished(in: .microseconds(100))
        }
        var expected: [Int] = []
        while let one = alone.next(at: .milliseconds(90)).admitted { expected.append(one.item) }
        #expect(taken == expected)
        #expect(together.busy == 0)
    }

    @Test func `a piece that does not join keeps its place, and a late one is dropped on the way`() {
        var queue = AdmissionQueue<Int>(threads: 1)
        _ = refusal(&queue, 1, at: .zero)
        _ = refusal(&queue, 2, .renewal, at: .seconds(11))
        let (none, dropped) = queue.next(at: .seconds(11)) { $0 == 1 }
        #expect(none == nil && dropped.isEmpty)
        #expect(queue.count == 2)
        #expect(queue.next(at: .seconds(11)).admitted?.item == 2)
        let late = queue.next(at: .seconds(11)) { _ in true }
        #expect(late.admitted == nil)
        #expect(late.dropped.map(\.item) == [1])
        #expect(late.dropped.first?.refusal.why == .late)
    }

    @Test func `pieces done together each count a share of the time`() {
        var together = AdmissionQueue<Int>(threads: 2, rules: AdmissionRules(expectedTime: .milliseconds(1)))
        var alone = together
        for item in 0..<8 {
            for _ in 0..<2 { _ = refusal(&together, item, at: .zero) }
            _ = refusal(&alone, item, at: .zero)
        }
        _ = together.next(at: .zero)
        for _ in 1..<8 { _ = together.next(at: .zero) { _ in true } }
        #expect(together.busy == 1)
        together.finished(8, in: .microseconds(512))
        for _ in 0..<8 {
            _ = alone.next(at: .zero)
            alone.finished(in: .microseconds(64))
        }
        #expect(together.serviceTime == alone.serviceTime)
        #expect(together.serviceTime < .microseconds(640))
        #expect(together.limit > 70)
    }

    @Test func `no request is served after its deadline, even in an idle queue`() {
        var queue = AdmissionQueue<Int>(threads: 1)
        _ = refusal(&queue, 1, at: .zero)
        let (admitted, dropped) = queue.next(at: .seconds(11))
        #expect(admitted == nil)
        #expect(dropped.map(\.item) == [1])
    }

    @Test func `a queue that was empty in between is not behind, even if each piece waits for a busy processor`() {
        var queue = AdmissionQueue<Int>(threads: 2)
        for item in 0..<10 {
            let arrival = Duration.milliseconds(item * 400)
            #expect(refusal(&queue, item, at: arrival) == nil)
            let (admitted, dropped) = queue.next(at: arrival + .milliseconds(300))
            #expect(admitted?.item == item && dropped.isEmpty)
            queue.finished(in: .milliseconds(1))
        }
    }

    @Test func `a lane with less than its share takes the place of one with more`() throws {
        var queue = AdmissionQueue<Int>(threads: 1, rules: AdmissionRules(most: 7))
        for item in 0..<7 { _ = refusal(&queue, item, .stored, at: .zero) }
        #expect(refusal(&queue, 9, .stored, at: .zero)?.why == .full)
        let first = try #require(try queue.add(100, .renewal, session: 0, at: .zero))
        #expect(first.item == 6)
        #expect(first.refusal.lane == .stored)
        for item in 101..<200 { _ = refusal(&queue, item, .renewal, at: .zero) }
        for item in 200..<300 { _ = refusal(&queue, item, .start, at: .zero) }
        var served: [AdmissionLane: Int] = [:]
        for _ in 0..<7 { served[try #require(queue.next(at: .zero).admitted?.lane), default: 0] += 1 }
        #expect(served == [.renewal: 4, .start: 2, .stored: 1])
    }

    @Test func `lanes are served by weight, and an idle one saves nothing up`() throws {
        var queue = AdmissionQueue<Int>(threads: 1, rules: AdmissionRules(expectedTime: .microseconds(1)))
        func served(_ count: Int) throws -> [AdmissionLane: Int] {
            try (0..<count).reduce(into: [:]) { served, _ in
                served[try #require(queue.next(at: .zero).admitted?.lane), default: 0] += 1
            }
        }
        for item in 0..<2_000 { _ = refusal(&queue, item, .start, at: .zero) }
        #expect(try served(1_000) == [.start: 1_000])
        for item in 0..<1_000 {
            _ = refusal(&queue, item, .renewal, at: .zero)
            _ = refusal(&queue, item, .stored, at: .zero)
        }
        let parts = try served(700)
        for lane in AdmissionLane.allCases { #expect(abs(parts[lane, default: 0] - lane.weight * 100) <= 1, "\(lane)") }
    }

    @Test func `more refusals spread their retries over more seconds`() {
        func times(refusals: Int) -> Set<Int> {
            var queue = AdmissionQueue<Int>(threads: 1, rules: AdmissionRules(most: 0))
            for number in 0..<refusals { _ = refusal(&queue, 0, session: UInt64(number), at: .seconds(1)) }
            return Set((0..<50).compactMap { refusal(&queue, 0, session: $0, at: .seconds(1))?.retryAfter })
        }
        #expect(times(refusals: 0) == [1, 2])
        #expect(times(refusals: 1_500) == [1, 2, 3])
        #expect(times(refusals: 9_000) == [1, 2, 3, 4, 5])
        var queue = AdmissionQueue<Int>(threads: 1, rules: AdmissionRules(most: 0))
        #expect(refusal(&queue, 0, session: 7, at: .zero) == refusal(&queue, 0, session: 7, at: .zero))
    }

    @Test func `a server about to stop refuses new work and finishes waiting work`() {
        var queue = AdmissionQueue<Int>(threads: 1)
        _ = refusal(&queue, 1, at: .zero)
        queue.isDraining = true
        #expect(refusal(&queue, 2, at: .zero)?.why == .draining)
        #expect(refusal(&queue, 2, session: 3, at: .zero)?.retryAfter == 1)
        #expect(queue.next(at: .zero).admitted?.item == 1)
        #expect(AdmissionRefusal(lane: .start, why: .draining, retryAfter: 1).refusal.status == 503)
        #expect(AdmissionRefusal(lane: .start, why: .full, retryAfter: 3).refusal.retryAfterSeconds == 3)
    }
}
