import Foundation
import LatchkeyCore
import LatchkeyTerminal

/// The results of a load.
struct LoadReport: Encodable, Sendable {
    struct Latency: Encodable, Sendable {
        let count: Int
        /// Milliseconds.
        let mean, p50, p90, p99, p999, max: Double

        init(_ histogram: LatencyHistogram) {
            let ms = { (part: Double) in (histogram.quantile(part) ?? .zero).inMilliseconds.shortened }
            count = histogram.count
            mean = (histogram.mean * 1_000).shortened
            (p50, p90, p99, p999) = (ms(0.5), ms(0.9), ms(0.99), ms(0.999))
            max = histogram.largest.inMilliseconds.shortened
        }
    }

    /// A part of the time.
    struct Moment: Encodable, Sendable {
        /// Seconds from the load's start.
        let second: Double
        let starts: Int
        /// Requests by outcome.
        let outcomes: [String: Int]
        /// Milliseconds of granted requests; `nil` if there were none.
        let p50, p99, max: Double?
    }

    struct Generator: Encodable, Sendable {
        /// Processor time of this process per second: 1 is one processor. In-process, it includes the server's.
        let processors: Double
        /// How late the generator itself began playbacks, in milliseconds.
        let lateP99: Double
    }

    struct Plan: Encodable, Sendable {
        let rate, seconds: Double
        let arrivals: String
        let viewers, retries: Int
        let obeysRetryAfter: Bool
        /// Seconds; `nil` for a single license each.
        let watching: Double?
    }

    let plan: Plan
    /// Until the last playback ended.
    let seconds: Double
    /// Playbacks that began, and playbacks that did not because too many were running.
    let starts, notStarted: Int
    /// Latencies of single requests by outcome, each from its intended start.
    let requests: [String: Latency]
    /// Questions by final outcome.
    let questions: [String: [String: Int]]
    /// Questions that got no final answer despite retries: neither a grant nor a refusal.
    let lost: Int
    /// Granted requests per second of the load.
    let goodput: Double
    let retries, retryAfters, opened: Int
    /// Replies by status and code; causes if no reply came.
    let replies: [String: Int]
    let timeline: [Moment]
    let generator: Generator

    init(_ plan: LoadPlan, _ tally: LoadTally, elapsed: Duration, processorTime: Double) {
        self.plan = Plan(
            rate: plan.rate, seconds: plan.length.inSeconds, arrivals: plan.arrivals.rawValue, viewers: plan.viewers,
            retries: plan.retries, obeysRetryAfter: plan.obeysRetryAfter, watching: plan.watching?.inSeconds)
        seconds = elapsed.inSeconds.shortened
        starts = tally.parts.map(\.starts).reduce(0, +)
        notStarted = tally.notStarted
        requests = Self.named(tally.latencies.mapValues { Latency($0) })
        questions = Dictionary(
            uniqueKeysWithValues: tally.questions.map { ($0.key.rawValue, Self.named($0.value)) })
        lost = tally.questions.values.reduce(0) { sum, outcomes in
            sum + outcomes.filter { ![.granted, .refused].contains($0.key) }.values.reduce(0, +)
        }
        // Requests granted after the load's end do not count toward its rate.
        let span = max(plan.length.inSeconds, elapsed.inSeconds, 0.001)
        goodput = (Double(tally.latencies[.granted]?.count ?? 0) / span).shortened
        (retries, retryAfters, opened) = (tally.retries, tally.retryAfters, tally.opened)
        replies = tally.labels
        timeline = tally.parts.enumerated().map { index, part in
            let ms = { (time: Duration?) in time?.inMilliseconds.shortened }
            return Moment(
                second: Double(index) * tally.partLength.inSeconds, starts: part.starts,
                outcomes: Self.named(part.outcomes), p50: ms(part.granted.quantile(0.5)),
                p99: ms(part.granted.quantile(0.99)),
                max: part.granted.count == 0 ? nil : ms(part.granted.largest))
        }
        generator = Generator(
            processors: (processorTime / max(elapsed.inSeconds, 0.001)).shortened,
            lateP99: (tally.lateness.quantile(0.99) ?? .zero).inMilliseconds.shortened)
    }

    private static func named<Value>(_ values: [LoadOutcome: Value]) -> [String: Value] {
        Dictionary(uniqueKeysWithValues: values.map { ($0.key.rawValue, $0.value) })
    }

    /// Whether requests took any time: on virtual time none does.
    var hasLatencies: Bool { timeline.contains { ($0.max ?? 0) >= 0.005 } }

    /// Whether every question got an answer.
    var isComplete: Bool { lost == 0 && notStarted == 0 }
}

extension LoadReport {
    /// The report for people.
    var text: String {
        let slots = LoadQuestion.allCases.contains { $0 == $0.ofSlots && questions[$0.rawValue] != nil }
        let granted = slots ? "licenses, slots and heartbeats" : "licenses and heartbeats"
        var lines = ["\(starts) playbacks in \(seconds.words) s; \(goodput.words) \(granted) a second"]
        let times = hasLatencies ? ["P50 ms", "P90 ms", "P99 ms", "P99.9 ms", "MAX ms"] : []
        var rows = [["REQUESTS", "NUMBER"] + times]
        rows += requestRows([\.p50, \.p90, \.p99, \.p999, \.max])
        lines += ["", TextTable(rows: rows).text, ""] + sortedReplies.map { "\($0.count) × \($0.label)" }
        lines.append("")
        if retries > 0 { lines.append("\(retries) requests were sent again.") }
        if notStarted > 0 { lines.append("\(notStarted) playbacks did not begin: too many were running.") }
        lines.append(
            lost == 0 ? "Every request got an answer in the end." : "\(lost) requests got no answer in the end.")
        lines.append(
            "The generator took \(generator.processors.words) processors, and was at most \(generator.lateP99.words) ms late"
                + " in 99 of 100 cases. \(opened) licenses were opened as a device does.")
        return lines.joined(separator: "\n")
    }

    /// A row for each outcome: its name, the number of requests, and latencies, if there are any.
    func requestRows(_ latencies: [KeyPath<Latency, Double>]) -> [[String]] {
        LoadOutcome.allCases.compactMap { outcome in
            requests[outcome.rawValue].map { one in
                [outcome.rawValue, "\(one.count)"] + (hasLatencies ? latencies.map { one[keyPath: $0].words } : [])
            }
        }
    }

    /// Most frequent first.
    var sortedReplies: [(label: String, count: Int)] {
        replies.sorted { ($1.value, $0.key) < ($0.value, $1.key) }.map { (label: $0.key, count: $0.value) }
    }
}

extension Double {
    /// Rounded to three decimal places.
    fileprivate var shortened: Double { isFinite ? (self * 1_000).rounded() / 1_000 : 0 }

    /// Formatted for people.
    var words: String {
        magnitude >= 100 ? "\(Int(saturating: rounded()))" : String(format: magnitude >= 10 ? "%.1f" : "%.2f", self)
    }
}
