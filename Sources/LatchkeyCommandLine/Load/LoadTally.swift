import LatchkeyCore

/// Counts the outcomes of a load's requests. Its size depends on the load's length, not on its rate.
struct LoadTally: Sendable {
    /// The events of one part of the time, by the intended time of requests.
    struct Part: Sendable {
        /// Playbacks that began.
        var starts = 0
        /// Requests by outcome.
        var outcomes: [LoadOutcome: Int] = [:]
        /// Latency of granted requests.
        var granted = LatencyHistogram()
    }

    /// The length of a part: a second, or as long as gives 600 parts.
    let partLength: Duration
    private(set) var parts: [Part] = []
    /// Latencies of single requests. The first of a question counts from its intended start.
    private(set) var latencies: [LoadOutcome: LatencyHistogram] = [:]
    /// Questions by final outcome, after retries.
    private(set) var questions: [LoadQuestion: [LoadOutcome: Int]] = [:]
    /// Replies by status and code, or the cause.
    private(set) var labels: [String: Int] = [:]
    private(set) var retries = 0
    private(set) var notStarted = 0
    /// Licenses that a device has opened.
    private(set) var opened = 0
    /// Replies to 503 and 429 with `Retry-After`.
    private(set) var retryAfters = 0
    /// The delay of the generator itself.
    private(set) var lateness = LatencyHistogram()

    init(length: Duration) {
        partLength = .seconds(max(1, (length.inSeconds / 600).rounded(.up)))
    }

    /// A playback begins.
    mutating func start(at offset: Duration, late: Duration) {
        part(offset) { $0.starts += 1 }
        lateness.add(late)
    }

    mutating func skip() { notStarted += 1 }

    mutating func open() { opened += 1 }

    /// A reply came, or none.
    mutating func request(_ outcome: LoadOutcome, _ reply: LoadReply, _ latency: Duration, at offset: Duration) {
        latencies[outcome, default: LatencyHistogram()].add(latency)
        // Servers choose the codes, so their number is bounded.
        let label = outcome == .unreadable ? "\(reply.label) unreadable" : reply.label
        labels[labels[label] != nil || labels.count < 100 ? label : "other", default: 0] += 1
        if outcome == .shed, reply.retryAfter != nil { retryAfters += 1 }
        part(offset) { part in
            part.outcomes[outcome, default: 0] += 1
            if outcome == .granted { part.granted.add(latency) }
        }
    }

    mutating func retry() { retries += 1 }

    mutating func end(_ question: LoadQuestion, _ outcome: LoadOutcome) {
        questions[question, default: [:]][outcome, default: 0] += 1
    }

    private mutating func part(_ offset: Duration, _ change: (inout Part) -> Void) {
        let index = min(Int(max(0, offset.inSeconds) / partLength.inSeconds), 100_000)
        while parts.count <= index { parts.append(Part()) }
        change(&parts[index])
    }
}
