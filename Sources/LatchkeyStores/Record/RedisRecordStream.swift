package import LatchkeyCore
package import LatchkeyEngines
package import LatchkeyRecord

/// The record as a stream of Redis or Valkey, for whoever reads it there: entries with the one field `row`.
///
/// One script adds rows and sets the position of their spool, so that a row that is sent twice is there once. Redis keeps what its own
/// settings have it keep.
///
/// Source: `Documentation/Server/Record.md` §3.3.
package final class RedisRecordStream: RecordDestination {
    package static let stream = "latchkey:record:{record}:rows"
    private static let positions = "latchkey:record:{record}:positions"

    package let engine = "redis"
    package let interval = Duration.milliseconds(250)
    private let store: RedisRecordStore
    private let length: Int?

    /// - Parameters:
    ///   - address: where Redis is.
    ///   - length: about how many rows the stream has at most, the oldest of which Redis forgets; `nil` for all.
    ///   - limit: how long a batch may take. Defaults to 5 s.
    /// - Throws: `StoreError`.
    package init(_ address: Secret, length: Int? = nil, limit: Duration = .seconds(5)) throws(StoreError) {
        let address = try RedisAddress(address)
        store = try RedisRecordStore(address, replicas: address.replicas, limit: limit)
        self.length = length
    }

    package func close() {}

    package func take(_ batch: RecordBatch) async throws(StoreError) -> UInt64 {
        var position: UInt64 = 0
        // Redis does nothing else while a script runs.
        var rest = batch.lines[...]
        while !rest.isEmpty {
            let lines = rest.prefix(200)
            rest = rest.dropFirst(200)
            var arguments = [Array(batch.spool.utf8), Array("\(length ?? 0)".utf8)]
            for line in lines { arguments += [Array("\(line.sequence)".utf8), line.json] }
            let answer = try await store.run(.appendRecord, [([Self.stream, Self.positions], arguments)])
            guard case .integer(let taken) = try answer.first.checked() else { throw RedisRecordStore.damaged }
            position = UInt64(clamping: taken)
        }
        return position
    }

    /// A stream has no days.
    package func keepDays(today: Int, days: Int?) async throws(StoreError) -> Int { 0 }

    package func findings() async -> [StoreError] {
        do throws(StoreError) {
            for (kind, key) in [("stream", Self.stream), ("hash", Self.positions)] {
                let answer = try await store.reader.send([store.words("TYPE", key)])
                let found = try answer.first.checked().text ?? ""
                guard ["none", kind].contains(found) else {
                    return [
                        StoreError(
                            .damaged, engine, reason: "\(key) in Redis is a \(found), and no \(kind).",
                            remedy: "Remove it, or name another database.")
                    ]
                }
            }
            return []
        } catch {
            return [error]
        }
    }
}

extension RedisScript {
    /// Adds the rows after the position of their spool, and moves the position to the last of them. A script is done as a whole.
    static let appendRecord = RedisScript(
        """
        local position = tonumber(redis.call('HGET', KEYS[2], ARGV[1]) or 0)
        local last = position
        for number = 3, #ARGV, 2 do
            local sequence = tonumber(ARGV[number])
            if sequence > last then
                if ARGV[2] == '0' then
                    redis.call('XADD', KEYS[1], '*', 'row', ARGV[number + 1])
                else
                    redis.call('XADD', KEYS[1], 'MAXLEN', '~', ARGV[2], '*', 'row', ARGV[number + 1])
                end
                last = sequence
            end
        end
        if last > position then redis.call('HSET', KEYS[2], ARGV[1], string.format('%.0f', last)) end
        return last
        """)
}
