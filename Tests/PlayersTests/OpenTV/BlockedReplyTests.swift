import Foundation
import LatchkeyCore
import LatchkeyVendors
import Testing

@testable import LatchkeyOpenTV

/// An answer that a thread of the player's waits for.
@Suite(.timeLimit(.minutes(5))) struct BlockedReplyTests {
    @Test func `an answer after the deadline does not count`() async {
        let reply = BlockedReply<Data>()
        let isEnded = Locked(false)
        let result = await onThread {
            reply.wait(atMost: .zero, .license) { { isEnded.withLock { $0 = true } } }
        }
        #expect(throws: ContentKeyError.self) { try result.get() }
        #expect(isEnded.withLock { $0 })
        #expect(!reply.give(.success(Data([1]))))
    }

    @Test func `an answer before the deadline counts and ends nothing`() async throws {
        let reply = BlockedReply<Data>()
        reply.give(.success(Data([1])))
        let isEnded = Locked(false)
        let result = await onThread {
            reply.wait(atMost: .seconds(60), .license) { { isEnded.withLock { $0 = true } } }
        }
        #expect(try result.get() == Data([1]))
        #expect(!isEnded.withLock { $0 } && !reply.give(.success(Data([2]))))
    }
}
