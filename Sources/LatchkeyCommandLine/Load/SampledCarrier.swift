import Foundation
import Latchkey
import LatchkeyCore
import LatchkeySimulation
import LatchkeySupport
import LatchkeyTerminal

/// Records some of a load's exchanges for `--trace`: one in so many, and the first failed ones.
struct SampledCarrier: LoadCarrier {
    private struct Count {
        var all = 0
        var wrong = 0
    }

    /// The maximum number of failed exchanges recorded in addition to the sample.
    private static let mostWrong = 200

    private let base: any LoadCarrier
    private let recorder: TraceRecorder
    private let every: Int
    private let timekeeper: any Timekeeper
    private let count = Locked(Count())

    /// - Parameters:
    ///   - base: carries the requests.
    ///   - recorder: takes the exchanges.
    ///   - every: the sampling interval: records one exchange in so many.
    ///   - timekeeper: the time. Defaults to the machine's.
    init(
        _ base: any LoadCarrier, _ recorder: TraceRecorder, every: Int, timekeeper: any Timekeeper = SystemTimekeeper()
    ) {
        self.base = base
        self.recorder = recorder
        self.every = max(1, every)
        self.timekeeper = timekeeper
    }

    func send(_ request: LoadRequest, within limit: Duration) async -> LoadReply {
        let (date, start) = (timekeeper.date, timekeeper.uptime)
        let reply = await base.send(request, within: limit)
        let isWrong = reply.outcome != .granted
        let isMeant = count.withLock { count in
            defer { count.all += 1 }
            if count.all.isMultiple(of: every) { return true }
            guard isWrong, count.wrong < Self.mostWrong else { return false }
            count.wrong += 1
            return true
        }
        if isMeant { note(request, reply, date, timekeeper.uptime - start) }
        return reply
    }

    private func note(_ request: LoadRequest, _ reply: LoadReply, _ date: Date, _ length: Duration) {
        let what = request.body.isEmpty ? "heartbeat" : "license"
        var span = TraceSpan(.request, "POST \(what)", from: date, for: length)
        span.stage = what
        if reply.outcome != .granted { span.code = reply.label }
        var exchange = RecordedExchange(
            RecordedRequest(method: "POST", url: request.url.absoluteString),
            reply.status == 0 ? nil : HTTPReply(status: reply.status))
        (exchange.sentBytes, exchange.receivedBytes) = (request.body.count, reply.body.count)
        exchange.requestID = reply.requestID
        span.exchange = exchange
        recorder.add(span)
    }
}

extension LoadPlan {
    /// The number of exchanges in a sample, if each playback has one.
    private static let sample = 500.0

    /// The sampling interval of a trace: one exchange in so many.
    var traceInterval: Int { max(1, Int(saturating: (rate * length.inSeconds / Self.sample).rounded(.up))) }
}
