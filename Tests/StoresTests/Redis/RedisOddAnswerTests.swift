import LatchkeyCore
import LatchkeySystem
import LatchkeyTesting
import LatchkeyVault
import Testing

@testable import LatchkeyStores
@testable import StoreProcesses

/// Numbers that no Redis answers.
@Suite(.timeLimit(.minutes(1))) struct RedisOddAnswerTests {
    @Test(arguments: [":9223372036854775807", ":-1", "$1\r\n7"])
    func `a set with an impossible member count is an error, not a crash`(_ count: String) async throws {
        let node = try ScriptedRedis()
        node.answers { words in
            switch words.first {
            case "CLUSTER": ScriptedRedis.slots(at: node.port)
            case "TIME": "*2\r\n$1\r\n9\r\n$1\r\n0\r\n"
            case "EXISTS": ":0\r\n"
            default: "\(count)\r\n"
            }
        }
        let address = try RedisAddress(Secret("redis+cluster://127.0.0.1:\(node.port)"))
        let store = try RedisRecordStore(address, limit: .seconds(30), timekeeper: ManualTimekeeper())
        #expect(await errorKind { _ = try await store.count(of: .account, "acme", most: 0) { _ in [] } } == .damaged)
    }
}
