package import Foundation
package import LatchkeySystem

/// A store beyond a network, of which a node knows enough that most changes take one trip instead of two: it decides on what it guesses, and
/// the store refuses what was decided on anything else.
///
/// Source: `Documentation/LicenseServer.md` §7.2.
package protocol SingleTripStore: RecordStore {
    /// What a record says as far as this node knows, with a clock that is not ahead of the engine's; `nil` if it knows nothing of the clock.
    func guess(_ key: RecordKey) -> RecordReading?

    /// As `write`, and gives what is held where nothing was written, to decide again.
    /// - Parameter reading: what the decision is made of. A guess with a clock ahead of the engine's is refused, too.
    /// - Returns: `nil` if it was written.
    func exchange(
        _ record: Record, at key: RecordKey, knowing reading: RecordReading, until end: Date, counting ends: [Date]
    ) async throws(StoreError) -> RecordReading?

    /// Extends a slot of an account without reading it.
    func extend(_ slot: SlotExtension, at key: RecordKey) async throws(StoreError) -> SlotExtension.Answer

    /// Which part of the store a record is in. Parts fail each by itself.
    func part(of key: RecordKey) -> Int
}

/// A heartbeat: a slot that goes on.
package struct SlotExtension: Sendable, Hashable {
    /// What became of it.
    package enum Answer: Sendable, Hashable {
        /// The slot's end, by the engine's clock.
        case extended(until: Date)
        /// The record has no such slot; somebody has to look why.
        case held(RecordReading)
    }

    package let session: String
    package let fence: Int
    /// From the engine's now on.
    package let life: Duration

    package init(session: String, fence: Int, life: Duration) {
        (self.session, self.fence, self.life) = (session, fence, life)
    }
}
