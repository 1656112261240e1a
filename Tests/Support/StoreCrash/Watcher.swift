import Foundation
import Latchkey
import LatchkeyCore

/// Starts processes that kill themselves, and compares the files they leave behind with the model.
struct Watcher {
    /// How many processes work on one folder, one after the other, before a new one is begun.
    private static let runsPerFolder = 25

    struct Report: Codable {
        /// The processes that ended by SIGKILL.
        var killed = 0
        /// The stores that held the state before the change under way.
        var old = 0
        /// The stores that held the state after it.
        var new = 0
        /// How many processes ended at each kind of step.
        var steps: [String: Int] = [:]
        var violations: [String] = []
    }

    let folder: String
    let seed: UInt64

    func report(runs: Int) async throws -> Report {
        var report = Report()
        var model = StoreModel()
        for number in 0..<runs {
            let place = URL(fileURLWithPath: folder).appendingPathComponent("\(number / Self.runsPerFolder)/keys")
            if number % Self.runsPerFolder == 0 {
                model = StoreModel()
                try FileManager.default.createDirectory(
                    at: place.deletingLastPathComponent(), withIntermediateDirectories: true)
            }
            let run = Run(folder: place, seed: seed &* 1_000_003 &+ UInt64(number))
            try await watch(run, &model, &report)
        }
        return report
    }

    private func watch(_ run: Run, _ model: inout StoreModel, _ report: inout Report) async throws {
        let signal = try end(of: run)
        if signal == SIGKILL { report.killed += 1 }
        let step = try String(decoding: Data(contentsOf: run.lastStepName), as: UTF8.self)
        report.steps[step, default: 0] += 1
        let begun = try Data(contentsOf: run.journal).count
        for number in 0..<(begun - 1) { model.make(run.change(number)) }
        var changed = model
        changed.make(run.change(begun - 1))
        guard let found = try? await StoreModel(.opened(FileKeyStore(folder: run.folder), run.seed)) else {
            report.violations.append("run \(run.seed), \(step): cannot be read")
            return
        }
        // A change that changes nothing is counted as old.
        if found == model {
            report.old += 1
        } else if found == changed {
            report.new += 1
        } else {
            report.violations.append("run \(run.seed), \(step): neither old nor new")
        }
        model = found
        try check(run, found, &report)
    }

    /// Only the items of the state are left.
    private func check(_ run: Run, _ found: StoreModel, _ report: inout Report) throws {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: run.folder.path)) ?? []
        guard names.filter({ $0 != StoredItem.index.rawValue }).count == found.keys.count else {
            report.violations.append("run \(run.seed): \(names.count) files for \(found.keys.count) keys")
            return
        }
    }

    /// Lets a process run to its end.
    /// - Returns: the signal that ended it, 0 for none.
    private func end(of run: Run) throws -> Int32 {
        let arguments = [CommandLine.arguments[0]] + run.arguments
        var words = arguments.map { strdup($0) } + [nil]
        defer { for word in words { free(word) } }
        var process: pid_t = 0
        guard posix_spawn(&process, arguments[0], nil, nil, &words, nil) == 0 else { throw CocoaError(.fileNoSuchFile) }
        var status: Int32 = 0
        while waitpid(process, &status, 0) < 0 { guard errno == EINTR else { throw CocoaError(.featureUnsupported) } }
        return status & 0x7f
    }
}
