import Foundation
import Latchkey
import LatchkeyCore
import LatchkeyPlayback
import LatchkeyTerminal

/// Loads and tries the segments of a plan one by one.
struct SampleTrial {
    let keys: [KeyURI: ContentKey]
    /// `nil` if nothing is decoded.
    let decoder: FFmpeg?
    let download: StreamDownload

    /// The result of one segment.
    struct Finding {
        let place: SamplePlan.Place
        /// `nil` if it cannot be read.
        var sample: KeySample?
        /// `nil` if it was not decoded.
        var verdict: KeySampleVerdict?
        /// Whether it decodes without the current key.
        var isClear = false
        var failure: Failure?
    }

    func findings(_ places: [SamplePlan.Place]) async -> [Finding] {
        let folder = FileManager.default.temporaryDirectory.appending(path: "latchkey-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        var findings: [Finding] = []
        for (index, place) in places.enumerated() {
            let own = folder.appending(path: "\(index)")
            findings.append(await finding(place, own))
            try? FileManager.default.removeItem(at: own)
        }
        return findings
    }

    private func finding(_ place: SamplePlan.Place, _ folder: URL) async -> Finding {
        var finding = Finding(place: place)
        do {
            let sample = try await download.sample(at: place, into: folder)
            finding.sample = sample
            let key = place.key.flatMap { keys[$0] }
            // Boxes are certain to be clear; a transport stream of clear types may still be encrypted.
            let isOfClearBoxes = !sample.protections.isEmpty && sample.isEncrypted == false
            guard let decoder, !sample.isPicture, place.key == nil ? sample.isEncrypted != true : key != nil,
                place.key == nil || !isOfClearBoxes
            else { return finding }
            let player = StreamPlayer(decoder)
            let verdict = try await player.verdict(on: sample, with: key)
            finding.verdict = verdict
            if case .wrong = verdict, place.key != nil {
                finding.isClear = try await player.verdict(on: sample, with: nil) == .right
            }
        } catch {
            finding.failure = Failure(error)
        }
        return finding
    }
}
