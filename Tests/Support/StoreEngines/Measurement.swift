import Foundation
import LatchkeyCore
import LatchkeyLicensing
import LatchkeyStores
import LatchkeySystem
import LatchkeyVault

/// Measures an engine, and prints a line for each figure.
struct Measurement {
    private let stores: Stores

    init(_ address: String) async throws {
        let address = try StoreAddress(address)
        try await Stores.migrate(address)
        stores = try await Stores.open(address)
    }

    /// Reads and writes of 16 clients for 10 s each: of records without counted things, and of records with a slot that counts.
    func records() async throws {
        for kind in [RecordKey.Kind.token, .account] { try await records(kind) }
    }

    private func records(_ kind: RecordKey.Kind) async throws {
        let records = stores.records
        let end = ContinuousClock.now + .seconds(10)
        let times = try await withThrowingTaskGroup(of: (times: [Double], failures: Int).self) { group in
            for client in 0..<16 { group.addTask { await Self.change(records, kind, client, until: end) } }
            return try await group.reduce(into: (times: [Double](), failures: 0)) {
                $0.times += $1.times
                $0.failures += $1.failures
            }
        }
        let sorted = times.times.sorted()
        let what = kind == .account ? "with a slot that counts" : "without a count"
        print("\(records.engine): \(sorted.count / 10) compare-and-sets a second \(what), with a read each; 16 clients")
        print(
            "compare-and-set p50 \(Self.share(sorted, 0.5)) ms, p99 \(Self.share(sorted, 0.99)) ms; \(times.failures) failed"
        )
    }

    private static func change(
        _ records: any RecordStore, _ kind: RecordKey.Kind, _ client: Int, until end: ContinuousClock.Instant
    ) async -> (times: [Double], failures: Int) {
        var times: [Double] = []
        var failures = 0
        var number = 0
        let bytes = [UInt8](repeating: 7, count: 400)
        while ContinuousClock.now < end {
            number = (number &* 31 &+ 7) % 1_000
            let key = RecordKey(kind, tenant: "acme", name: "client-\(client)-account-\(number)")
            do throws(StoreError) {
                let reading = try await records.read(key)
                let record = Record(version: reading.nextVersion, bytes: bytes)
                let start = ContinuousClock.now
                _ = try await records.write(
                    record, at: key, replacing: reading.record?.version, until: reading.now + 600,
                    counting: kind == .account ? [reading.now + 600] : [])
                times.append(start.duration(to: .now).inMilliseconds)
            } catch { failures += 1 }
        }
        return (times, failures)
    }

    /// Fills, reads, pages, searches.
    func keys(_ count: Int) async throws {
        guard let keys = stores.keys else { return }
        try await measure("fill with \(count) keys, 1,000 at a time by 4 clients") {
            try await withThrowingTaskGroup(of: Void.self) { group in
                for client in 0..<4 {
                    group.addTask {
                        for start in stride(from: client * 1_000, to: count, by: 4_000) {
                            _ = try await keys.add((start..<min(start + 1_000, count)).compactMap(NumberedKeys.row))
                        }
                    }
                }
                try await group.waitForAll()
            }
        }
        var times: [Double] = []
        for number in 0..<1_000 {
            let start = ContinuousClock.now
            _ = try await keys.rows([NumberedKeys.kid(number &* 7_919 % count)].compactMap(\.self), of: "acme")
            times.append(start.duration(to: .now).inMilliseconds)
        }
        print(
            "read of a row: the first \(times.first ?? 0) ms, p50 \(Self.share(times.sorted(), 0.5)) ms, p99 \(Self.share(times.sorted(), 0.99)) ms"
        )
        try await measure("count") { _ = try await keys.count(of: "acme") }
        let first = try await keys.page(of: "acme", search: "", after: nil, limit: 1)
        try await measure("first page of 100") {
            _ = try await keys.page(of: "acme", search: "", after: nil, limit: 100)
        }
        try await measure("page of 100 from the middle") {
            guard let content = ContentName("channel-500/"), let kid = first.first?.kid else { return }
            _ = try await keys.page(of: "acme", search: "", after: .init(content: content, kid: kid), limit: 100)
        }
        try await measure("search by a name's beginning") {
            _ = try await keys.page(of: "acme", search: "channel-77/", after: nil, limit: 100)
        }
        try await measure("search by a kid") {
            _ = try await keys.page(of: "acme", search: first.first.map { "\($0.kid)" } ?? "", after: nil, limit: 100)
        }
        let status = (try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)) ?? ""
        print(status.split(separator: "\n").first { $0.hasPrefix("VmRSS") } ?? "")
    }

    /// Counts sessions as the operators' console does.
    static func sessions(_ address: String, _ count: Int) async throws {
        let records = try await Measurement(address).stores.records
        let start = ContinuousClock.now
        try await withThrowingTaskGroup(of: Void.self) { group in
            for client in 0..<8 {
                group.addTask {
                    for number in stride(from: client, to: count, by: 8) {
                        let key = RecordKey(.account, tenant: "acme", name: "account-\(number)")
                        let reading = try await records.read(key)
                        let record = Record(version: reading.nextVersion, bytes: session)
                        _ = try await records.write(
                            record, at: key, replacing: reading.record?.version, until: reading.now + 86_400,
                            counting: [reading.now + 86_000 + Double(number % 300)])
                    }
                }
            }
            try await group.waitForAll()
        }
        print("\(records.engine): \(count) accounts with a session each written in \(start.duration(to: .now).inWords)")
        let accountSessions = AccountSessions(
            accounts: records, secrets: [], limits: RecordStoreLimits(time: .seconds(5)))
        var times: [Double] = []
        for _ in 0..<5 {
            let start = ContinuousClock.now
            let found = try await accountSessions.sessionCount(of: "acme", most: .max)
            times.append(start.duration(to: .now).inMilliseconds)
            guard found == RecordCount(count, isWhole: true) else {
                throw StoreError(.damaged, records.engine, reason: "\(found.value) are counted.")
            }
        }
        let median = share(times.sorted(), 0.5)
        print("\(records.engine): \(count) sessions counted in p50 \(median) ms, first \(times.first ?? 0) ms")
    }

    /// An account with one session that ends in 2096, as stores hold it.
    private static let session: [UInt8] = {
        func text(_ text: String) -> [UInt8] { [UInt8(text.utf8.count)] + Array(text.utf8) }
        var bytes: [UInt8] = [1, 1] + text("session-1")
        for words in ["viewer-1-device", "browser", "web"] { bytes += [1] + text(words) }
        bytes += text("film-000001") + [1, 1]
        for milliseconds: UInt64 in [1_700_000_000_000, 4_000_000_000_000] {
            var rest = milliseconds
            while rest > 0x7f {
                bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
                rest >>= 7
            }
            bytes.append(UInt8(rest))
        }
        return bytes + [UInt8](repeating: 0, count: 6)
    }()

    private func measure(_ name: String, _ body: () async throws -> Void) async throws {
        let start = ContinuousClock.now
        try await body()
        print("\(name): \(start.duration(to: .now).inMilliseconds) ms")
    }

    private static func share(_ sorted: [Double], _ share: Double) -> Double {
        sorted.isEmpty ? 0 : sorted[min(sorted.count - 1, Int(Double(sorted.count) * share))]
    }
}
