import LatchkeyCore

/// The latest decisions by their requests' identifiers, to say why one was refused.
///
/// A record holds no token, no key and no SPC. It ends with the process, or when later ones take its place.
package final class RecentDecisions: Sendable {
    /// A record is too large to be moved around among thousands.
    private final class Kept: Sendable {
        let record: DecisionRecord

        init(_ record: DecisionRecord) { self.record = record }
    }

    private let records: Locked<BoundedDictionary<String, Kept>>

    /// - Parameter limit: how many records are kept. Defaults to 10,000, some 30 MB.
    package init(limit: Int = 10_000) { records = Locked(BoundedDictionary(limit: limit)) }

    /// Keeps a record; one without a request's identifier is not kept.
    package func keep(_ record: DecisionRecord) {
        guard let requestID = record.requestID else { return }
        let kept = Kept(record)
        // What it replaces is released behind the lock.
        _ = records.withLock { $0.updateValue(kept, forKey: requestID) }
    }

    /// The record of a request that belongs to a tenant; `nil` if it is not there, not there any more, or another tenant's.
    package func record(of requestID: String, at tenant: String) -> DecisionRecord? {
        guard let record = records.withLock({ $0[requestID] })?.record,
            record.facts.ask.tenant.equalsByteForByte(tenant)
        else {
            return nil
        }
        return record
    }
}
