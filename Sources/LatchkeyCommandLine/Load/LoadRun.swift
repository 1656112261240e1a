import Foundation
import LatchkeyCore
import LatchkeyDevice

/// Sends a load: playbacks begin when the plan says, whether or not the server keeps up.
///
/// A request's latency counts from the moment at which it was meant to be sent. So a slow server cannot lighten the load, and the waits
/// that it causes are measured (no coordinated omission).
struct LoadRun: Sendable {
    let plan: LoadPlan
    /// The addresses of licenses and of heartbeats.
    let license, heartbeats: URL
    /// The address of slots; their heartbeats go below it.
    var slots: URL?
    let crowd: LoadCrowd
    let tokens: ViewerTokens
    var carrier: any LoadCarrier
    var timekeeper: any Timekeeper = SystemTimekeeper()

    private struct State {
        var tally: LoadTally
        var playing = 0
    }

    /// Sends the load, and waits until the last playback has ended.
    /// - Parameter progress: called each second with the progress of the load.
    @available(macOS 14, iOS 17, tvOS 17, *)
    func run(_ progress: @escaping @Sendable (LoadTally) -> Void = { _ in }) async -> LoadReport {
        let state = Locked(State(tally: LoadTally(length: plan.length)))
        let clock = ProcessClock()
        let begin = timekeeper.uptime
        await withDiscardingTaskGroup { group in
            var shown = Duration.zero
            for (number, start) in plan.starts().enumerated() {
                let intended = begin + start
                if intended > timekeeper.uptime { try? await timekeeper.sleep(until: intended) }
                let isRoom = state.withLock { state in
                    guard state.playing < plan.mostPlaybacks else {
                        state.tally.skip()
                        return false
                    }
                    state.playing += 1
                    state.tally.start(at: start, late: timekeeper.uptime - intended)
                    return true
                }
                guard isRoom, let playback = crowd.playback(number) else { continue }
                group.addTask {
                    await Player(run: self, playback: playback, state: state, begin: begin).play(from: intended)
                    state.withLock { $0.playing -= 1 }
                }
                if start - shown >= .seconds(1) {
                    shown = start
                    progress(state.withLock { $0.tally })
                }
            }
        }
        return LoadReport(
            plan, state.withLock { $0.tally }, elapsed: timekeeper.uptime - begin, processorTime: clock.spent)
    }

    /// One simulated device during one playback.
    private struct Player: Sendable {
        let run: LoadRun
        let playback: LoadCrowd.Playback
        let state: Locked<State>
        let begin: Duration

        func play(from intended: Duration) async {
            var reply = await ask(.start, intended)
            guard let watching = run.plan.watching, reply.outcome == .granted else { return }
            let end = intended + watching
            var token = reply.heartbeatToken
            var renewal = next(reply.renewAfter, intended)
            var beat = next(reply.heartbeat, intended)
            let interval = reply.heartbeat
            while let time = [renewal, beat].compactMap({ $0 }).min(), time < end {
                if time > run.timekeeper.uptime { try? await run.timekeeper.sleep(until: time) }
                if time == renewal {
                    reply = await ask(.renewal, time)
                    guard reply.outcome == .granted else { return }
                    renewal = next(reply.renewAfter, time)
                    token = reply.heartbeatToken ?? token
                } else {
                    guard let token, await heartbeat(token, time).outcome == .granted else { return }
                    beat = next(interval, time)
                }
            }
        }

        private func next(_ seconds: Int?, _ time: Duration) -> Duration? {
            seconds.map { time + .seconds(min(max($0, 1), 86_400)) }
        }

        private func ask(_ question: LoadQuestion, _ intended: Duration) async -> LoadReply {
            let exchange: KeyExchange? =
                switch playback.way {
                case .licenses(let start, let renewal, _): question == .start ? start : renewal
                case .slots: nil
                }
            return await answer(question, exchange, intended) {
                let token = try await run.tokens.token(playback.account, playback.session)
                if case .slots(let body) = playback.way {
                    return LoadRequest(
                        url: run.slots ?? run.license, token: token, contentType: "application/json", body: body)
                }
                return LoadRequest(
                    url: run.license, token: token, contentType: "application/octet-stream",
                    body: exchange?.spc.revealed ?? Data())
            }
        }

        private func heartbeat(_ token: String, _ intended: Duration) async -> LoadReply {
            var url = run.heartbeats
            if case .slots = playback.way { url = run.slots?.appending(path: "heartbeat") ?? url }
            return await answer(.heartbeat, nil, intended) { [url] in
                LoadRequest(url: url, token: Secret(token), contentType: "application/octet-stream", body: Data())
            }
        }

        /// Sends a request, and retries it as often as the plan says.
        private func answer(
            _ question: LoadQuestion, _ exchange: KeyExchange?, _ intended: Duration,
            _ request: () async throws -> LoadRequest
        ) async -> LoadReply {
            var (intended, attempt) = (intended, 0)
            var question = question
            if case .slots = playback.way { question = question.ofSlots }
            while true {
                var reply: LoadReply
                do {
                    reply = await run.carrier.send(try await request(), within: run.plan.patience)
                } catch {
                    reply = .none((error as? any DiagnosableError)?.code ?? "no token")
                }
                let outcome = outcome(of: reply, exchange)
                let isLast = !outcome.isWorthRetrying || attempt >= run.plan.retries
                let now = run.timekeeper.uptime
                let sent = intended
                state.withLock { state in
                    state.tally.request(outcome, reply, now - sent, at: sent - begin)
                    if isLast { state.tally.end(question, outcome) } else { state.tally.retry() }
                }
                if isLast {
                    if outcome == .unreadable { reply.status = 0 }
                    return question == .slot || question == .slotRenewal ? reply.ofSlot : reply
                }
                attempt += 1
                let stated = run.plan.obeysRetryAfter ? reply.retryAfter : nil
                let wait = stated.map { Duration.seconds(min(max($0, 0), 60)) } ?? .milliseconds(100)
                try? await run.timekeeper.sleep(for: wait)
                intended = now + wait
            }
        }

        private func outcome(of reply: LoadReply, _ exchange: KeyExchange?) -> LoadOutcome {
            guard reply.status == 200, let exchange, case .licenses(_, _, let pair) = playback.way else {
                return reply.outcome
            }
            guard let isOpen = run.crowd.opens(reply.body, for: pair, exchange) else { return .granted }
            state.withLock { if isOpen { $0.tally.open() } }
            return isOpen ? .granted : .unreadable
        }
    }
}

/// The processor time of this process.
struct ProcessClock {
    private let start = Self.now

    /// Seconds since the clock was made, of all threads together.
    var spent: Double { Self.now - start }

    private static var now: Double {
        var time = timespec()
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) * 1e-9
    }
}
