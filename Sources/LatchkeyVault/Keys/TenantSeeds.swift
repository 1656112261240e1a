package import LatchkeyCore

/// The number of a tenant's seed. A new seed gets a higher one; a content keeps the version that its first keys were made with.
public struct SeedVersion: Sendable, Hashable, Comparable, Codable {
    /// The number.
    public let number: UInt32

    /// - Parameter number: the number.
    public init(_ number: UInt32) { self.number = number }

    public static func < (one: Self, other: Self) -> Bool { one.number < other.number }
}

/// The secrets that one tenant's keys are derived from.
///
/// If a seed is lost, all of its keys are lost: keep seeds sealed, and a copy elsewhere.
///
/// Source: `Documentation/LicenseServer.md` §8.1.
package struct TenantSeeds: Sendable {
    /// The fewest bytes of a seed.
    package static let leastCount = 32

    /// The tenant's name, which separates tenants that share a seed by mistake.
    package let tenant: String
    /// The version for new content.
    package let current: SeedVersion
    private let seeds: [SeedVersion: Secret]

    /// - Parameters:
    ///   - tenant: the tenant's name, not empty.
    ///   - seeds: the seeds by version, each of 32 random bytes or more.
    ///   - current: the version for new content; one of them.
    /// - Throws: `seedsUnusable`.
    package init(
        tenant: String, seeds: [SeedVersion: Secret], current: SeedVersion
    ) throws(VaultError) {
        guard !tenant.isEmpty else { throw .unusable("The tenant has no name.") }
        guard seeds[current] != nil else { throw .unusable("The current seed, \(current.number), is missing.") }
        if let short = seeds.filter({ $0.value.count < Self.leastCount }).keys.min() {
            throw .unusable("Seed \(short.number) has fewer than \(Self.leastCount) bytes.")
        }
        self.tenant = tenant
        self.seeds = seeds
        self.current = current
    }

    /// The existing versions, the newest first.
    var versions: [SeedVersion] { seeds.keys.sorted(by: >) }

    /// A seed; `nil` if the version does not exist.
    func seed(_ version: SeedVersion) -> Secret? { seeds[version] }
}

extension VaultError {
    fileprivate static func unusable(_ reason: String) -> Self {
        .protection(
            .seedsUnusable, reason: reason, remedy: "Configure each seed as 32 random bytes or more, by version.")
    }
}
