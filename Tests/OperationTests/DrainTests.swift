import LatchkeyCore
import LatchkeyTesting
import Testing

@testable import LatchkeyLicensing

@Suite(.timeLimit(.minutes(5))) struct DrainTests {
    private struct Happened: Equatable, Sendable {
        let phase: DrainPlan.Phase
        let at: Duration
    }

    /// Runs a drain with requests of a given length, and signals at given times.
    private func run(signals: [Duration], work: Duration) async throws -> (
        end: DrainPlan.End, at: Duration, phases: [Happened]
    ) {
        let time = VirtualTime()
        let phases = Locked<[Happened]>([])
        return try await time.run {
            let drain = Drain(
                timekeeper: time,
                began: { phase in phases.withLock { $0.append(Happened(phase: phase, at: time.uptime)) } },
                finish: { try? await time.sleep(for: work) })
            for signal in signals {
                startTask {
                    try? await time.sleep(until: signal)
                    drain.signal()
                }
            }
            let end = await drain.end()
            return (end, time.uptime, phases.withLock { $0 })
        }
    }

    @Test func `a node is unready, waits, stops accepting, finishes and ends`() async throws {
        let (end, at, phases) = try await run(signals: [.seconds(1)], work: .seconds(2))
        #expect(end == .clean)
        #expect(at == .seconds(8))
        #expect(
            phases == [
                Happened(phase: .draining(until: .seconds(6)), at: .seconds(1)),
                Happened(phase: .finishing(until: .seconds(16)), at: .seconds(6)),
                Happened(phase: .ended(.clean), at: .seconds(8)),
            ])
    }

    @Test func `requests that take too long are abandoned`() async throws {
        let (end, at, _) = try await run(signals: [.zero], work: .seconds(60))
        #expect(end == .late)
        #expect(at == .seconds(15))
    }

    @Test(arguments: [Duration.seconds(2), .seconds(7)])
    func `a second signal stops it now`(second: Duration) async throws {
        let (end, at, _) = try await run(signals: [.zero, second], work: .seconds(9))
        #expect(end == .atOnce)
        #expect(at == second)
    }

    @Test func `the node is ready until the first signal`() {
        let drain = Drain(timekeeper: ManualTimekeeper()) {}
        #expect(Readiness([drain.check]).report.isReady)
        drain.signal()
        #expect(!Readiness([drain.check]).report.isReady)
    }

    @Test func `a running node stops neither by time nor when idle`() {
        var plan = DrainPlan()
        #expect(plan.take(.time, at: .seconds(1_000)) == nil)
        #expect(plan.take(.idle, at: .seconds(1_000)) == nil)
        #expect(plan.wakeUp == nil)
        #expect(plan.take(.signal, at: .seconds(1_000)) == .draining(until: .seconds(1_005)))
        #expect(plan.take(.idle, at: .seconds(1_001)) == nil)
        #expect(plan.take(.time, at: .seconds(1_004)) == nil)
    }
}
