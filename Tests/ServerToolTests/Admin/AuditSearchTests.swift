import Foundation
import LatchkeyTesting
import Testing

@testable import LatchkeyLicensing
@testable import LatchkeyServer
@testable import LatchkeyServerTool
@testable import LatchkeyVault

@Suite(.timeLimit(.minutes(5))) struct AuditSearchTests {
    /// An audit with entries, one an hour from 2026-11-20T00:00:00Z on: every third one stops a session of the tenant demo, the others
    /// sign in.
    private static func audit(_ count: Int) async throws -> MemoryAuditStore {
        let (store, time) = (MemoryAuditStore(), ManualTimekeeper(date: Date(timeIntervalSince1970: 1_795_132_800)))
        let chain = AuditChain(store, timekeeper: time)
        for number in 1...count {
            let event =
                number.isMultiple(of: 3)
                ? AuditEvent(.sessionStopped, of: "demo/ann", by: "admin:operator-\(number % 2)", tenant: "demo")
                : AuditEvent(.adminLogin, of: "admin:x", by: "admin:x")
            _ = try await chain.append(event)
            time.advance(by: .seconds(3_600))
        }
        return store
    }

    private static func search(
        who: String = "", did: String = "", to: String = "", since: String = "", until: String = ""
    ) -> AuditSearch {
        AuditSearch(who: who, did: did, to: to, since: since, until: until)
    }

    /// Searches among 60 entries, and the entries that they find.
    private static let searches: [(AuditSearch, [UInt64])] = [
        (search(did: "STOPPED"), Array(stride(from: 3, through: 60, by: 3))),
        (search(who: "operator-0"), Array(stride(from: 6, through: 60, by: 6))),
        (search(to: "demo/", since: "2026-11-22"), [51, 54, 57, 60]),
        (search(did: "session", until: "2026-11-20"), [3, 6, 9, 12, 15, 18, 21, 24]),
        (search(since: "2026-11-21T00", until: "2026-11-21T02"), [25, 26, 27]),
        (search(who: "nobody"), []),
    ]

    @Test(arguments: searches) func `all pages are searched by actor, action, target and time`(
        _ search: AuditSearch, _ wanted: [UInt64]
    ) async throws {
        let store = try await Self.audit(60)
        var (found, end): ([UInt64], UInt64?) = ([], 60)
        while let last = end {
            let (entries, next) = try await search.latest(7, upTo: last, in: store)
            #expect(entries.count <= 7)
            found = entries.map(\.sequence) + found
            end = next.map { $0 - 1 }
        }
        #expect(found == wanted)
    }

    @Test func `a search with few matches examines a limited number of entries and then resumes`() async throws {
        let store = try await Self.audit(AuditSearch.mostLooked + 700)
        let search = Self.search(until: "2026-11-20T01")
        let (first, next) = try await search.latest(50, upTo: UInt64(AuditSearch.mostLooked + 700), in: store)
        #expect(first == [] && next == 701)
        let (second, end) = try await search.latest(50, upTo: 700, in: store)
        #expect(second.map(\.sequence) == [1, 2] && end == nil)
    }

    @Test(arguments: [
        (TenantScope.all, Array(1...60 as ClosedRange<UInt64>)),
        (.listed(["demo"]), Array(stride(from: 3, through: 60, by: 3))), (.listed(["other"]), []),
    ]) func `entries after a number are paged without a gap`(_ tenants: TenantScope, _ wanted: [UInt64])
        async throws
    {
        let store = try await Self.audit(60)
        let search = AuditSearch(tenants: tenants, who: "", did: "", to: "", since: "", until: "")
        var (found, from): ([UInt64], UInt64?) = ([], 1)
        while let first = from {
            let (entries, next) = try await search.following(7, from: first, last: 60, in: store)
            #expect(entries.count <= 7)
            found += entries.map(\.sequence)
            from = next
        }
        #expect(found == wanted)
    }

    @Test func `among many entries of others a tenant's operator learns where to resume`() async throws {
        let last = UInt64(AuditSearch.mostLooked + 700)
        let store = try await Self.audit(Int(last))
        let search = AuditSearch(tenants: .listed(["other"]), who: "", did: "", to: "", since: "", until: "")
        let (first, next) = try await search.following(50, from: 1, last: last, in: store)
        #expect(first == [] && next == UInt64(AuditSearch.mostLooked) + 1)
        let (second, end) = try await search.following(50, from: try #require(next), last: last, in: store)
        #expect(second == [] && end == nil)
    }
}
