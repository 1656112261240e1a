import Foundation
import LatchkeyCore

@testable import LatchkeyHTTP

/// A server with RSA threads on virtual time: Poisson arrivals, work of varying length, and the admission queue between them.
struct SimulatedServer {
    /// A time with one load.
    struct Load {
        let duration: Double
        /// Arrivals per second of each lane.
        let rates: [AdmissionLane: Double]
        /// Arrivals per second of another tenant at the same time.
        var neighbor: [AdmissionLane: Double] = [:]
    }

    /// The outcome of one request.
    struct Outcome {
        let lane: AdmissionLane
        var tenant = ""
        /// When it came, in seconds.
        let arrival: Double
        /// How long it took until its license; `nil` if it was refused.
        let latency: Double?
        /// How long it took until its refusal; `nil` if it was not refused.
        let refusal: Double?
    }

    private struct Request {
        let lane: AdmissionLane
        let arrival: Double
        let tenant: String
    }

    let threads: Int
    /// The mean time of a piece of work in seconds; changes over time.
    let meanTime: @Sendable (Double) -> Double
    let rules: AdmissionRules
    /// Whether the queue knows the tenant of its work.
    var knowsTenants = true

    init(
        threads: Int = 2, rules: AdmissionRules = AdmissionRules(),
        meanTime: @escaping @Sendable (Double) -> Double = { _ in 0.0007 }
    ) {
        self.threads = threads
        self.rules = rules
        self.meanTime = meanTime
    }

    /// Runs loads one after the other, and until nothing is left.
    func run(_ loads: [Load], seed: UInt64) -> [Outcome] {
        var generator = SeededGenerator(seed: seed)
        var queue = AdmissionQueue<Request>(threads: threads, rules: rules)
        var outcomes: [Outcome] = []
        var free = [Double](repeating: 0, count: threads)
        /// The work that each thread does.
        var working = [(request: Request, begin: Double)?](repeating: nil, count: threads)
        var arrivals = arrivals(loads, using: &generator)[...]
        while true {
            let nextDone = free.indices.filter { working[$0] != nil }.min { free[$0] < free[$1] }
            let isArrival =
                arrivals.first.map { request in nextDone.map { request.arrival < free[$0] } ?? true } ?? false
            let now: Double
            if isArrival, let request = arrivals.popFirst() {
                now = request.arrival
                do throws(AdmissionRefusal) {
                    let session = UInt64.random(in: 0..<1_000, using: &generator)
                    let dropped = try queue.add(
                        request, request.lane, session: session, tenant: knowsTenants ? request.tenant : "",
                        at: .seconds(now))
                    if let dropped { outcomes.append(refused(dropped.item, at: now)) }
                } catch {
                    outcomes.append(refused(request, at: now))
                }
            } else if let thread = nextDone, let done = working[thread] {
                now = free[thread]
                queue.finished(in: .seconds(now - done.begin))
                outcomes.append(
                    Outcome(
                        lane: done.request.lane, tenant: done.request.tenant, arrival: done.request.arrival,
                        latency: now - done.request.arrival, refusal: nil))
                working[thread] = nil
            } else {
                return outcomes
            }
            for thread in free.indices where working[thread] == nil && queue.count > 0 {
                let (admitted, dropped) = queue.next(at: .seconds(now))
                outcomes += dropped.map { refused($0.item, at: now) }
                guard let admitted else { continue }
                working[thread] = (admitted.item, now)
                free[thread] = now + meanTime(now) * Double.random(in: 0.7..<1.3, using: &generator)
            }
        }
    }

    private func refused(_ request: Request, at now: Double) -> Outcome {
        Outcome(
            lane: request.lane, tenant: request.tenant, arrival: request.arrival, latency: nil,
            refusal: now - request.arrival)
    }

    private func arrivals(_ loads: [Load], using generator: inout SeededGenerator) -> [Request] {
        var all: [Request] = []
        var begin = 0.0
        for load in loads {
            for (tenant, rates) in [("", load.rates), ("neighbor", load.neighbor)] {
                for (lane, rate) in rates.sorted(by: { $0.key.rawValue < $1.key.rawValue }) {
                    var time = begin
                    while true {
                        time -= log(Double.random(in: 0x1p-53..<1, using: &generator)) / rate
                        guard time < begin + load.duration else { break }
                        all.append(Request(lane: lane, arrival: time, tenant: tenant))
                    }
                }
            }
            begin += load.duration
        }
        return all.sorted { $0.arrival < $1.arrival }
    }
}

extension [Double] {
    /// The value that a part of all do not exceed.
    func quantile(_ part: Double) -> Double {
        let sorted = sorted()
        return sorted.isEmpty ? 0 : sorted[Swift.min(sorted.count - 1, Int(Double(sorted.count) * part))]
    }
}
