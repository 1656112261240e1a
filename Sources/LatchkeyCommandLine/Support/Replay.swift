import Foundation
import Latchkey
import LatchkeyCore
import LatchkeyHLS
import LatchkeySimulation
import LatchkeySupport
import LatchkeyTerminal
import LatchkeyTesting

/// Replays a support bundle on its own virtual time.
struct Replay: Sendable {
    let bundle: SupportBundle

    /// The error of the replay, and whether it is the captured one.
    struct Outcome: Sendable {
        let failure: Failure?
        let stage: String?
        let isSame: Bool
    }

    /// - Throws: a `Diagnosis` with `bundleWithoutProfile`; `VirtualTimeError`.
    func outcome() async throws -> Outcome {
        guard #available(macOS 15, *) else {
            throw Diagnosis(
                code: "systemTooOld", reason: "A replay on virtual time needs macOS 15.",
                remedy: "Run it on Linux, or on a newer system.")
        }
        let time = VirtualTime(date: bundle.start)
        let errors: [any Error] = try await time.run {
            let replay = SupportReplay(bundle, timekeeper: time)
            let errors: [any Error] = try await replay.errors()
            return errors.isEmpty ? await playlistErrors(replay) : errors
        }
        let expected = bundle.failure
        let found = errors.map { error in
            let failure = Failure(error)
            let stage =
                failure.stage ?? (error is ContentKeyError ? nil : ContentKeyError.Stage.playlist.rawValue)
            return Outcome(
                failure: failure, stage: stage,
                isSame: expected.map { $0.code == failure.code && $0.stage == stage } ?? false)
        }
        return found.first(where: \.isSame) ?? found.first ?? Outcome(failure: nil, stage: nil, isSame: expected == nil)
    }

    /// The error of a stream's playlist, if it ended the playback.
    private func playlistErrors(_ replay: SupportReplay) async -> [any Error] {
        guard bundle.failure?.stage == ContentKeyError.Stage.playlist.rawValue, let stream = replay.stream,
            WebResources.isAddress(stream)
        else {
            return []
        }
        do {
            _ = try await KeyDiscovery(WebResources(transport: replay.transport), scope: .sessionKeysSuffice).keys(
                at: stream)
            return []
        } catch {
            return [error]
        }
    }
}
