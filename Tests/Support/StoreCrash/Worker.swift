import Foundation
import Latchkey
import LatchkeyCore

/// Makes one change after the other until the step comes at which the process ends.
struct Worker {
    private let run: Run
    private let offline: OfflineKeys

    init(_ run: Run) {
        self.run = run
        let steps = Locked(0)
        let store = FileKeyStore(folder: run.folder) { step in
            let number = steps.withLock { steps in
                defer { steps += 1 }
                return steps
            }
            if number == run.lastStep { Self.end(run, at: step) }
        }
        offline = .opened(store, run.seed)
    }

    func work() async throws {
        let journal = open(run.journal.path, O_WRONLY | O_CREAT | O_TRUNC, 0o600)
        var number = 0
        while true {
            write(journal, "+", 1)
            try await run.change(number).make(offline)
            number += 1
        }
    }

    /// Does a part of a write, and ends the process as the system does: immediately.
    private static func end(_ run: Run, at step: FileStep) {
        if case .write(let bytes, let file) = step {
            bytes.withUnsafeBytes { _ = write(file, $0.baseAddress, $0.count * run.writtenShare / 256) }
        }
        let name = String("\(step)".prefix { $0 != "(" })
        try? Data(name.utf8).write(to: run.lastStepName)
        kill(getpid(), SIGKILL)
        // The signal may take a moment to arrive; nothing more happens until it does.
        while true { pause() }
    }
}
