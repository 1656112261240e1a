import Foundation
import LatchkeyCore
import LatchkeyFairPlay
import LatchkeyServer
import LatchkeyServices
import LatchkeySimulation
import LatchkeyTerminal
import LatchkeyTesting
import StandInEngine

/// Plays the applications of `Examples` against the emulated services: their players' stand-ins make the SPCs, open the CKCs,
/// decrypt and decode.
@MainActor
struct PlayerDemonstration {
    let stage: DemoStage
    let exchanges: ExchangeWatch

    /// How many heartbeats or renewals of a session to wait for while time passes.
    private nonisolated static let beats = 3

    init(on stage: DemoStage, _ exchanges: ExchangeWatch) {
        self.stage = stage
        self.exchanges = exchanges
        StandInHardware.register(stage.credentials)
    }

    /// Plays one form of a document.
    /// - Returns: what to print, and whether everything is right.
    func play(_ form: DemoDocument.Form) async -> (text: String, isRight: Bool) {
        do {
            let line = try await line(form)
            return (line.text, line.isRight)
        } catch {
            return (Failure(error).text, false)
        }
    }

    private func line(_ form: DemoDocument.Form) async throws -> DemoLine {
        let bench = try bench(for: form)
        defer { if bench.address != stage.bench.address { Task { await bench.host.stop(within: .zero) } } }
        guard let service = bench.host.services.first(where: { $0.identifier == form.service }) else {
            throw UsageError("there is no service \(form.service).")
        }
        let time = ManualTimekeeper()
        // A stage of its own: some SDKs have one delegate for all of their players.
        let simulated =
            form.keepAlive == nil
            ? StandInStage(reference: stage.reference)
            : StandInStage(timekeeper: time, reference: stage.reference)
        let (asked, period) = (Locked<Int?>(nil), Locked(0))
        let scene = try scene(form, service, bench) { [exchanges] in
            asked.withLock { $0 = Self.requests(of: bench) }
            guard let keepAlive = form.keepAlive else { return }
            let seconds = NAGRAService.defaultHeartbeat
            for beat in 1...Self.beats {
                await time.untilSomeoneSleeps(for: seconds)
                time.advance(by: seconds)
                try await exchanges.until(beat, of: "\(keepAlive.trace)")
                period.withLock { $0 = beat }
            }
        }
        let before = Self.requests(of: bench)
        let result: StandInPlayback.Result
        do { result = try await simulated.run { try await form.play(scene) } } catch {
            // The error that the adapter gave the application says more than the player's.
            throw scene.errors.error ?? error
        }
        var line = DemoLine(
            requests: (asked.withLock { $0 } ?? Self.requests(of: bench)) - before,
            timeToKey: form.keepAlive == nil ? result.timeToKey : nil,
            frames: result.frameCount, picture: scene.picture, isRight: result.isRight)
        line.remark = form.keepAlive.map { keepAlive in
            let beats = period.withLock { $0 }
            let passed = NAGRAService.defaultHeartbeat * beats
            return "\(beats) \(keepAlive.name) in \(passed.shown) of virtual time"
        }
        return line
    }

    private func scene(
        _ form: DemoDocument.Form, _ service: any VendorService, _ bench: TestBench,
        passTime: @escaping @Sendable () async throws -> Void
    ) throws -> DemoDocument.Scene {
        let address = bench.media("\(form.asset.rawValue)/master.m3u8", through: service)
        guard let content = URL(string: address) else { throw UsageError("\(address) is no address.") }
        return DemoDocument.Scene(
            content: content, settings: service.parameters(at: bench.mount(of: service)),
            token: { service.demoToken().revealedText },
            picture: stage.output.appending(path: "\(form.picture).png"), errors: .init(), passTime: passTime)
    }

    /// The stage's services; for sessions that renewals keep alive, a service that enforces them in its licenses.
    private func bench(for form: DemoDocument.Form) throws -> TestBench {
        guard form.keepAlive == .renewals else { return stage.bench }
        let exchanges = exchanges
        return try TestBench.start(
            credentials: [stage.credentials.credential],
            keys: DemoAsset.keys(), media: DemoAsset.located(),
            log: { exchanges.note($0) }
        ) { authority in
            var service = NAGRAService(ServiceEnvironment(authority: authority))
            service.enforcesSessions = true
            return [service]
        }
    }

    /// How many requests the services got, without those for media.
    private nonisolated static func requests(of bench: TestBench) -> Int {
        bench.host.journal.count { !$0.path.hasPrefix("/media/") }
    }
}
