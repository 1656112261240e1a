import Foundation
import LatchkeyCore
import LatchkeyForms
import LatchkeyLicensing
import LatchkeySystem
import LatchkeyVault

/// A search of the audit.
struct AuditSearch: Sendable {
    /// The most entries that one request reads; a search that finds fewer continues with the next request.
    static let mostLooked = 10_000

    /// The tenants: an operator of single tenants finds entries that name one of them.
    var tenants = TenantScope.all
    /// A part of the actor, the action, and the object; in any case of letters, empty for all.
    let who, did, to: String
    /// The first and the last time in UTC, each as the beginning of one: `2026-11-25` is the whole day. Empty for all.
    let since, until: String

    /// The last entries that fit, in their order.
    /// - Parameters:
    ///   - limit: how many, at most.
    ///   - end: the number of the last one to look at; 0 for none.
    ///   - store: the audit.
    /// - Returns: the entries, and the number before which to look for earlier ones; `nil` if there are none.
    /// - Throws: `StoreError`.
    func latest(
        _ limit: Int, upTo end: UInt64, in store: any AuditStore
    ) async throws(StoreError) -> (entries: [AuditEntry], next: UInt64?) {
        var (found, end, looked): ([AuditEntry], UInt64, Int) = ([], end, 0)
        while end > 0, found.count < limit, looked < Self.mostLooked {
            let size = UInt64(isEverything ? limit : 500)
            let first = end > size ? end - size + 1 : 1
            let page = try await store.entries(from: first, limit: Int(end - first + 1)).filter { $0.sequence <= end }
            looked += Int(end - first + 1)
            found = Array((page.filter(fits) + found).suffix(limit))
            end = first - 1
        }
        let next = found.count == limit ? found.first?.sequence : end + 1
        return (found, next.flatMap { $0 > 1 ? $0 : nil })
    }

    /// The first entries from a number on that are of the search's tenants, in their order.
    /// - Parameters:
    ///   - limit: how many, at most.
    ///   - first: the number from which on.
    ///   - last: the number of the last one there is.
    ///   - store: the audit.
    /// - Returns: the entries, and the number from which on there may be more; `nil` if the last one was looked at.
    /// - Throws: `StoreError`.
    func following(
        _ limit: Int, from first: UInt64, last: UInt64, in store: any AuditStore
    ) async throws(StoreError) -> (entries: [AuditEntry], next: UInt64?) {
        var (found, next, looked): ([AuditEntry], UInt64, Int) = ([], first, 0)
        while next <= last, found.count < limit, looked < Self.mostLooked {
            let page = try await store.entries(from: next, limit: tenants.isAll ? limit : 500)
            guard let end = page.last?.sequence, end >= next else { return (found, nil) }
            found += page.filter { isOfTenants($0) }.prefix(limit - found.count)
            // Rows read beyond a full page are read again.
            next = (found.count == limit ? found.last?.sequence ?? end : end) + 1
            looked += page.count
        }
        return (found, next <= last ? next : nil)
    }

    private func isOfTenants(_ entry: AuditEntry) -> Bool {
        tenants.isAll || tenants.covers(JSONValue(Data(entry.text.utf8))?["tenant"]?.text)
    }

    private var isEverything: Bool { tenants.isAll && [who, did, to, since, until].allSatisfy(\.isEmpty) }

    private func fits(_ entry: AuditEntry) -> Bool {
        guard !isEverything else { return true }
        guard let event = JSONValue(Data(entry.text.utf8)) else { return false }
        let time = event["time"]?.text ?? ""
        return (tenants.isAll || tenants.covers(event["tenant"]?.text)) && Self.has(who, event["actor"])
            && Self.has(did, event["action"]) && Self.has(to, event["object"])
            && since <= time && (until.isEmpty || String(time.prefix(until.count)) <= until)
    }

    private static func has(_ part: String, _ member: JSONValue?) -> Bool {
        part.isEmpty || member?.text?.range(of: part, options: .caseInsensitive) != nil
    }
}
