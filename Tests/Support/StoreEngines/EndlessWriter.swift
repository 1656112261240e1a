import Foundation
import LatchkeyCore
import LatchkeyStores
import LatchkeyVault

/// Writes until the process is killed. Each record is of one byte, repeated; each key is printed once it is stored.
struct EndlessWriter {
    let path: String

    func write() async throws {
        let store = try SQLiteStore(path: path)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for writer in 0..<4 { group.addTask { try await writeRecords(of: writer, to: store) } }
            group.addTask { try await addKeys(to: store) }
            try await group.waitForAll()
        }
    }

    private func writeRecords(of writer: Int, to store: SQLiteStore) async throws {
        var generator = SeededGenerator(seed: UInt64(writer))
        while true {
            let chance = generator.next()
            let key = RecordKey(.account, tenant: "acme", name: "\(writer)-\(chance % 20)")
            let reading = try await store.read(key)
            let bytes = [UInt8](
                repeating: UInt8(truncatingIfNeeded: chance >> 8), count: 1 + Int(chance >> 16 % 60_000))
            let record = Record(version: reading.nextVersion, bytes: bytes)
            _ = try await store.write(record, at: key, replacing: reading.record?.version, until: reading.now + 3_600)
        }
    }

    private func addKeys(to store: SQLiteStore) async throws {
        var number = 0
        while true {
            _ = try await store.add((0..<10).compactMap { NumberedKeys.row(number + $0) })
            number += 10
            FileHandle.standardOutput.write(Data("\(number)\n".utf8))
        }
    }
}
