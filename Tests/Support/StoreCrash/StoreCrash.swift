import Foundation
import Latchkey
import LatchkeyCore
import LatchkeyTesting

/// Kills itself over and over while it changes a file key store, and checks the remaining files each time.
///
///     StoreCrash FOLDER SEED RUNS         prints a report as JSON, exit code 1 where a state was neither old nor new
///     StoreCrash work FOLDER SEED RUN     one run: changes the store until it kills itself
@main
struct StoreCrash {
    static func main() async throws {
        let arguments = Array(CommandLine.arguments.dropFirst())
        if arguments.first == "work", let run = Run(arguments.dropFirst()) {
            try await Worker(run).work()
        } else if arguments.count == 3, let seed = UInt64(arguments[1]), let runs = Int(arguments[2]) {
            let report = try await Watcher(folder: arguments[0], seed: seed).report(runs: runs)
            print(String(decoding: try JSONEncoder().encode(report), as: UTF8.self))
            exit(report.violations.isEmpty ? 0 : 1)
        } else {
            exit(2)
        }
    }
}

/// One process: which folder it works on, and all its chance.
struct Run {
    let folder: URL
    let seed: UInt64

    init(folder: URL, seed: UInt64) {
        self.folder = folder
        self.seed = seed
    }

    init?(_ arguments: ArraySlice<String>) {
        let arguments = Array(arguments)
        guard arguments.count == 2, let seed = UInt64(arguments[1]) else { return nil }
        self.init(folder: URL(fileURLWithPath: arguments[0]), seed: seed)
    }

    /// The arguments of the process.
    var arguments: [String] { ["work", folder.path, "\(seed)"] }

    /// The step at which the process ends, from 0.
    var lastStep: Int { Int(SeededGenerator.number(seed, 1) % 24) }

    /// How much of a write is done when it is the last step, of 256.
    var writtenShare: Int { Int(SeededGenerator.number(seed, 2) % 257) }

    /// The change of a number, counted from 0.
    func change(_ number: Int) -> StoreChange { StoreChange(SeededGenerator.number(seed, 100 + UInt64(number))) }

    /// The file in which the process notes each change that it begins: a byte per change.
    var journal: URL { folder.appendingPathExtension("journal") }

    /// The file in which it notes the step at which it ends.
    var lastStepName: URL { folder.appendingPathExtension("step") }
}

extension SeededGenerator {
    static func number(_ seed: UInt64, _ stream: UInt64) -> UInt64 {
        var generator = SeededGenerator(seed: seed &* 0x1_0001 &+ stream)
        return generator.next()
    }
}

extension OfflineKeys {
    static func opened(_ store: FileKeyStore, _ seed: UInt64) -> OfflineKeys {
        OfflineKeys(store, timekeeper: ManualTimekeeper(), generator: { SystemRandomNumberGenerator() })
    }
}
