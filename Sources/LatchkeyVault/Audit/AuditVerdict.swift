import LatchkeyCore
package import LatchkeySystem

/// The result of checking the audit.
package enum AuditVerdict: Sendable, Hashable {
    /// Every entry follows from the one before. Keep the last one elsewhere: only it shows that the whole chain was not rewritten.
    case intact(last: AuditEntry?)
    /// The number of the first entry that does not match the chain, and why.
    case broken(at: UInt64, AuditBreak)
}

/// Why an entry does not follow from the one before.
package enum AuditBreak: String, Sendable, Hashable, CaseIterable {
    /// The entry's number is missing, and a later one exists.
    case missing
    /// An entry is in another's place.
    case reordered
    /// The entry names a different previous entry.
    case foreignHash
    /// The entry's number, text or hash was changed.
    case changed
    /// The chain ends before an entry that is known to have been there.
    case cutOff
}

extension AuditVerdict: CustomStringConvertible {
    package var description: String {
        switch self {
        case .intact(let last?): "The audit is intact up to entry \(last.sequence)."
        case .intact(nil): "The audit has no entry."
        case .broken(let number, let kind): "The audit is broken at entry \(number): \(kind.words)"
        }
    }
}

extension AuditBreak {
    fileprivate var words: String {
        switch self {
        case .missing: "it is missing, but a later entry exists."
        case .reordered: "another entry is in its place."
        case .foreignHash: "it refers to a different previous entry."
        case .changed: "its number, text or hash was changed."
        case .cutOff: "the audit ends before it."
        }
    }
}

extension AuditChain {
    /// Reads a whole audit, recomputes it, and names the first break.
    /// - Parameters:
    ///   - store: the audit.
    ///   - known: an entry that the audit once had and must still have. Without one, a chain whose end is gone counts as whole.
    /// - Throws: `StoreError`.
    /// - Complexity: linear in the entries; holds 500 at a time.
    package static func verify(
        _ store: any AuditStore, knowing known: AuditAnchor? = nil
    ) async throws(StoreError) -> AuditVerdict {
        var walk = AuditWalk()
        while true {
            if let verdict = try await walk.step(through: store, knowing: known) { return verdict }
        }
    }
}

/// A check of a whole audit in steps, to read a part of it at a time.
package struct AuditWalk: Sendable {
    private var last: AuditEntry?

    package init() {}

    /// Reads the next 500 entries. After a verdict the walk begins anew.
    /// - Parameters: as ``AuditChain/verify(_:knowing:)``.
    /// - Returns: `nil` while there may be more.
    package mutating func step(
        through store: any AuditStore, knowing known: AuditAnchor?
    ) async throws(StoreError) -> AuditVerdict? {
        let page = try await store.entries(from: (last?.sequence ?? 0) + 1, limit: 500)
        for entry in page {
            let number = (last?.sequence ?? 0) + 1
            if let kind = Self.fault(of: entry, number: number, after: last) { return end(.broken(at: number, kind)) }
            if let known, known.sequence == number, known.hash != entry.hash {
                return end(.broken(at: number, .changed))
            }
            last = entry
        }
        guard page.isEmpty else { return nil }
        let number = (last?.sequence ?? 0) + 1
        if let known, known.sequence >= number { return end(.broken(at: number, .cutOff)) }
        return end(.intact(last: last))
    }

    private mutating func end(_ verdict: AuditVerdict) -> AuditVerdict {
        last = nil
        return verdict
    }

    private static func fault(of entry: AuditEntry, number: UInt64, after last: AuditEntry?) -> AuditBreak? {
        if entry.sequence > number { return .missing }
        if entry.sequence < number { return .reordered }
        if entry.previous != last?.hash ?? AuditEntry.beginning { return .foreignHash }
        return (try? entry.computedHash()) == entry.hash ? nil : .changed
    }
}
