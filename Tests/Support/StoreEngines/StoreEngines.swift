import Foundation
import LatchkeyCore
import LatchkeyDecision
import LatchkeyStores
import LatchkeyVault

/// Writes to an engine until it is killed, or measures one.
///
///     StoreEngines write FILE             writes records and keys to SQLite, and prints the number of each key that is stored
///     StoreEngines records ADDRESS        compare-and-sets of 16 clients, each on its own records, for 10 s
///     StoreEngines keys ADDRESS COUNT     fills a store with keys, then reads, pages and searches
///     StoreEngines sessions ADDRESS COUNT fills a store with accounts of a session each, then counts those
///     StoreEngines reports ADDRESS COUNT  fills a record (postgresql://… or files:PATH) with rows of ten days, then asks for reports
///     StoreEngines rollups ADDRESS COUNT  fills a database with a month of so many requests, as roll-ups, then asks for reports
@main
struct StoreEngines {
    static func main() async throws {
        let arguments = Array(CommandLine.arguments.dropFirst())
        switch (arguments.first, arguments.count) {
        case ("write", 2): try await EndlessWriter(path: arguments[1]).write()
        case ("records", 2): try await Measurement(arguments[1]).records()
        case ("keys", 3): try await Measurement(arguments[1]).keys(Int(arguments[2]) ?? 1_000_000)
        case ("reports", 3): try await ReportMeasurement(arguments[1]).run(Int(arguments[2]) ?? 1_000_000)
        case ("rollups", 3): try await RollupMeasurement(arguments[1]).run(Int(arguments[2]) ?? 100_000_000)
        case ("sessions", 3): try await Measurement.sessions(arguments[1], Int(arguments[2]) ?? 10_000)
        default: exit(2)
        }
    }
}

/// Rows of keys by number; nothing in them opens.
enum NumberedKeys {
    static func kid(_ number: Int) -> KeyID? {
        var generator = SeededGenerator(seed: UInt64(number))
        return KeyID(bytes: (0..<2).flatMap { _ in withUnsafeBytes(of: generator.next()) { Array($0) } })
    }

    static func row(_ number: Int) -> KeyRow? {
        guard let kid = kid(number), let content = ContentName("channel-\(number % 1_000)/program-\(number)") else {
            return nil
        }
        return KeyRow(
            kid: kid,
            sealed: SealedKey(
                tenant: "acme", subject: .contentKey(kid), dataKey: 1, nonce: [UInt8](repeating: 1, count: 12),
                sealed: [UInt8](repeating: UInt8(truncatingIfNeeded: number), count: 48)),
            content: content, track: .hd, trackType: "HD", policies: ["standard"], scheme: .cbcs,
            created: Date(timeIntervalSince1970: 1_700_000_000))
    }
}
