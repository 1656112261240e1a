import Foundation
import LatchkeyCore
import LatchkeyEngines
import Testing

@testable import LatchkeyRecord
@testable import LatchkeyStores
@testable import StoreProcesses

/// The record in a real Redis.
@Suite(.timeLimit(.minutes(5)), .enabled(if: RedisProcess.isInstalled, "redis-server is not installed."))
struct RedisRecordStreamTests {
    private func stream(_ redis: RedisProcess, length: Int? = nil) throws -> RedisRecordStream {
        try RedisRecordStream(Secret("redis+unix:\(redis.path)"), length: length, limit: .seconds(60))
    }

    /// The requests' identifiers of the stream's rows, in their order.
    private func requests(_ redis: RedisProcess) throws -> [String] {
        let entries = try redis.command("XRANGE", RedisRecordStream.stream, "-", "+").elements ?? []
        return try entries.map { entry in
            let fields = try #require(entry.elements?.last?.elements)
            #expect(fields.first?.text == "row")
            return try LicenseRecordRow(json: try #require(fields.last?.bytes)).requestID
        }
    }

    @Test func `a batch that comes again, also cut otherwise, is there once`() async throws {
        let redis = try await RedisProcess()
        let stream = try stream(redis)
        #expect(try await stream.take(.sample(1...450)) == 450)
        #expect(try await stream.take(.sample(1...450)) == 450)
        #expect(try await self.stream(redis).take(.sample(440...460)) == 460)
        #expect(try await stream.take(.sample(1...1, spool: "ffffffffffffffff")) == 1)
        #expect(try requests(redis) == (1...460).map { "\($0)" } + ["1"])
    }

    @Test func `with a length the oldest rows go, without one none does`() async throws {
        let redis = try await RedisProcess()
        _ = try await stream(redis, length: 1_000).take(.sample(1...3_000))
        let count = try requests(redis).count
        #expect((1_000..<2_000).contains(count))
        #expect(try requests(redis).last == "3000")
    }

    @Test func `a key of something else is found, and rows do not get lost in it`() async throws {
        let redis = try await RedisProcess()
        #expect(await (try stream(redis)).findings() == [])
        try redis.command("SET", RedisRecordStream.stream, "mine")
        #expect(await (try stream(redis)).findings().first?.reason.contains("is a string") == true)
        await #expect(throws: StoreError.self) { try await stream(redis).take(.sample(1...1)) }
        try redis.command("DEL", RedisRecordStream.stream)
        #expect(try await stream(redis).take(.sample(1...1)) == 1)
    }

    @Test func `an answer that is lost leads to no second row`() async throws {
        let redis = try await RedisProcess()
        let stream = try stream(redis)
        let task = Task { try await stream.take(.sample(1...5)) }
        task.cancel()
        _ = try? await task.value
        #expect(try await stream.take(.sample(1...5)) == 5)
        #expect(try requests(redis) == (1...5).map { "\($0)" })
    }
}
