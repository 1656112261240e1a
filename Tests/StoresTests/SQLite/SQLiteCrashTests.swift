import CSQLite
import Foundation
import LatchkeyCore
import LatchkeySystem
import LatchkeyTesting
import Testing

@testable import LatchkeyStores
@testable import LatchkeyVault

/// A process is killed while it writes; its file is whole, and has every key that was answered.
@Suite(.timeLimit(.minutes(5))) struct SQLiteCrashTests {
    /// The program next to the tests; nil if it was not built.
    private static let program: URL? = {
        var folder = URL(filePath: CommandLine.arguments[0]).resolvingSymlinksInPath().deletingLastPathComponent()
        for _ in 0..<4 {
            let file = folder.appending(path: "StoreEngines")
            if FileManager.default.isExecutableFile(atPath: file.path) { return file }
            folder.deleteLastPathComponent()
        }
        return nil
    }()

    @Test(.enabled(if: program != nil, "StoreEngines was not built"), arguments: [1, 7, 40])
    func `a process killed while writing leaves whole records and all acknowledged keys`(_ batches: Int) async throws {
        let folder = try TemporaryFolder()
        let path = folder.path("store.db")
        let stored = try await Self.keysStored(by: path, killedAfter: batches)
        #expect(stored >= batches * 10)
        let store = try SQLiteStore(path: path)
        #expect(try await store.count(of: "acme") >= stored)
        let records = try await store.page(of: .account, "acme", prefix: "", after: nil, limit: 1_000)
        #expect(records.allSatisfy { Set($0.record.bytes).count == 1 })
        let verdict = try await store.pages.read { connection throws(StoreError) in
            try connection.rows("PRAGMA integrity_check") { row throws(StoreError) in try row.text(0) }
        }
        #expect(verdict == ["ok"])
    }

    /// Lets a process write until it has printed a number of lines, and kills it.
    /// - Returns: the last number that it printed.
    private static func keysStored(by path: String, killedAfter lines: Int) async throws -> Int {
        let process = Subprocess()
        process.executableURL = program
        process.arguments = ["write", path]
        let output = Pipe()
        process.standardOutput = output
        process.standardInput = FileHandle.nullDevice
        try process.run()
        let text = await withCheckedContinuation { continuation in
            // Reading blocks until the process has ended.
            Thread.detachNewThread {
                var text = ""
                while true {
                    let bytes = output.fileHandleForReading.availableData
                    if bytes.isEmpty { break }
                    text += String(decoding: bytes, as: UTF8.self)
                    if text.count(where: { $0 == "\n" }) >= lines { process.send(SIGKILL) }
                }
                continuation.resume(returning: text)
            }
        }
        return text.split(separator: "\n").last.flatMap { Int($0) } ?? 0
    }
}
