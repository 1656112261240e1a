package import Foundation
package import LatchkeySystem

/// A store across a network, of which a node knows enough that most changes take one trip instead of two: it decides on a guess, and
/// the store refuses decisions that were made on anything but its current state.
///
/// Source: `Documentation/LicenseServer.md` §7.2.
package protocol SingleTripStore: RecordStore {
    /// A record as far as this node knows it, with a clock that is not ahead of the engine's; `nil` if it knows nothing of the clock.
    func guess(_ key: RecordKey) -> RecordReading?

    /// As `write`, but returns the stored record if nothing was written, to decide again.
    /// - Parameter reading: the basis of the decision. A guess with a clock ahead of the engine's is refused, too.
    /// - Returns: `nil` if it was written.
    func exchange(
        _ record: Record, at key: RecordKey, knowing reading: RecordReading, until end: Date, counting ends: [Date]
    ) async throws(StoreError) -> RecordReading?

    /// Extends a slot of an account without reading it.
    func extend(_ slot: SlotExtension, at key: RecordKey) async throws(StoreError) -> SlotExtension.Answer

    /// The part of the store that a record is in. Each part fails independently.
    func part(of key: RecordKey) -> Int
}

/// A heartbeat: a slot that continues.
package struct SlotExtension: Sendable, Hashable {
    /// The result of the heartbeat.
    package enum Answer: Sendable, Hashable {
        /// The slot's end, by the engine's clock.
        case extended(until: Date)
        /// The record has no such slot; the caller must find out why.
        case held(RecordReading)
    }

    package let session: String
    package let fence: Int
    /// Counted from the engine's current time.
    package let life: Duration

    package init(session: String, fence: Int, life: Duration) {
        (self.session, self.fence, self.life) = (session, fence, life)
    }
}
