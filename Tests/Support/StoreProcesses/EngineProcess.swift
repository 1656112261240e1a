// Stores can be tested in debug builds only.
#if DEBUG
    import Foundation
    import LatchkeyCore
    import LatchkeySystem
    import LatchkeyTesting

    /// A program that does not run as root, and ends with the process that started it.
    final class EngineProcess: Sendable {
        private static let starter = "/usr/bin/setpriv"

        static func canRun(_ program: String) -> Bool {
            [program, starter].allSatisfy { FileManager.default.isExecutableFile(atPath: $0) }
        }

        private let process: Locked<Subprocess>
        private let log = ProcessLog()

        init(_ program: String, _ arguments: [String]) {
            let process = Subprocess()
            process.executableURL = URL(filePath: Self.starter)
            let user = geteuid() == 0 ? ["--reuid", "65534", "--regid", "65534", "--clear-groups"] : []
            process.arguments = ["--pdeathsig", "KILL"] + user + [program] + arguments
            let output = Pipe()
            process.standardOutput = output
            process.standardError = output
            self.process = Locked(process)
            // The program dies with the thread that started it, so that thread waits for its end.
            let (started, log) = (self.process, log)
            Thread.detachNewThread {
                _ = try? started.withLock { try $0.run() }
                while case let data = output.fileHandleForReading.availableData, !data.isEmpty { log.append(data) }
                log.end()
            }
        }

        deinit { signal(SIGKILL) }

        /// Waits until the program has printed a text.
        /// - Throws: `Diagnosis` if it ends before.
        func says(_ text: String) async throws { try await log.says(text) }

        func signal(_ number: Int32) {
            process.withLock { if $0.isRunning { kill($0.processIdentifier, number) } }
        }
    }

    /// A process's output, and who waits for a text of it.
    private final class ProcessLog: Sendable {
        private struct State {
            var text = ""
            var isOver = false
            var waiting: [(text: String, promise: Promise<Void, any Error>)] = []
        }

        private let state = Locked(State())

        func append(_ data: Data) {
            state.withLock { state in
                state.text += String(decoding: data, as: UTF8.self)
                state.waiting.removeAll { one in
                    guard state.text.contains(one.text) else { return false }
                    one.promise.resolve(.success(()))
                    return true
                }
            }
        }

        func end() {
            state.withLock { state in
                state.isOver = true
                for one in state.waiting { one.promise.resolve(.failure(Diagnosis.ended(state.text))) }
                state.waiting = []
            }
        }

        func says(_ text: String) async throws {
            let promise = Promise<Void, any Error>()
            state.withLock { state in
                if state.text.contains(text) {
                    promise.resolve(.success(()))
                } else if state.isOver {
                    promise.resolve(.failure(Diagnosis.ended(state.text)))
                } else {
                    state.waiting.append((text, promise))
                }
            }
            try await promise.value
        }
    }

    extension Diagnosis {
        fileprivate static func ended(_ text: String) -> Diagnosis {
            Diagnosis(code: "test", reason: "It ended: \(text)", remedy: "See above.")
        }
    }
#endif
