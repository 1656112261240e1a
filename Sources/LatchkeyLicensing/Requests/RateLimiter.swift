package import LatchkeyCore

/// How many requests a client may send: so many per period, and a burst after a rest.
package struct RateLimit: Sendable, Hashable {
    /// How long one request takes up of the rate.
    fileprivate let interval: Duration
    /// How far ahead of the rate requests may run.
    fileprivate let slack: Duration

    /// - Parameters:
    ///   - count: how many requests per time, at least 1.
    ///   - period: the time.
    ///   - burst: how many in a burst after a rest, at least 1. Defaults to `count`.
    ///   - nodes: how many nodes share the limit. Each gets its part of count and burst.
    package init(_ count: Int, per period: Duration, burst: Int? = nil, nodes: Int = 1) {
        let nodes = max(1, nodes)
        interval = period * nodes / max(1, count)
        slack = interval * (max(1, (burst ?? count) / nodes) - 1)
    }
}

/// The scope in which a limit counts.
package enum RateScope: String, Sendable, Hashable, CaseIterable {
    /// An address range (`AddressCut.limits`); asked before a signature is checked.
    case address
    /// A subject of tokens; asked after the signature.
    case subject
    /// One token; asked after the signature.
    case token
    /// A tenant as a whole.
    case tenant
}

/// Token buckets for addresses, subjects, tokens and tenants of one node, in bounded memory.
///
/// A bucket is one time: the one up to which the requests so far have used up the rate (the generic cell rate algorithm). Only a hash of a
/// name is kept. When there are too many buckets, those not used for longest are forgotten, which gives their owners a full bucket again.
///
/// Source: `Documentation/LicenseServer.md` §9.5.
package final class RateLimiter: Sendable {
    fileprivate struct State {
        var recent: [Int: Duration] = [:]
        var older: [Int: Duration] = [:]
    }

    private let limits: [RateScope: RateLimit]
    private let generation: Int
    private let timekeeper: any Timekeeper
    private let state = Locked(State())

    /// - Parameters:
    ///   - limits: the limit of each scope; a scope without one is not limited.
    ///   - buckets: how many buckets are kept at most. Defaults to 200,000, some 10 MB.
    ///   - timekeeper: the clock.
    package init(_ limits: [RateScope: RateLimit], buckets: Int = 200_000, timekeeper: any Timekeeper) {
        self.limits = limits
        generation = max(1, buckets / 2)
        self.timekeeper = timekeeper
    }

    /// The number of buckets.
    package var count: Int { state.withLock { $0.recent.count + $0.older.count } }

    /// Counts one request.
    /// - Parameters:
    ///   - scope: the scope to count it in.
    ///   - name: whose request it is: an address range, a subject, a token's identifier, a tenant.
    ///   - tenant: the tenant to which the name belongs; `nil` before it is known.
    ///   - own: the name's own limit in place of the scope's. Defaults to none.
    /// - Returns: `nil` if the request may proceed; else, after how long it may come again. A refused request does not count.
    package func refusal(
        _ scope: RateScope, _ name: some Hashable, tenant: String? = nil, own: RateLimit? = nil
    ) -> Duration? {
        guard let limit = own ?? limits[scope] else { return nil }
        var hasher = Hasher()
        hasher.combine(scope)
        hasher.combine(tenant)
        hasher.combine(name)
        let bucket = hasher.finalize()
        let now = timekeeper.uptime
        return state.withLock { state in
            let used = max(state.take(bucket) ?? now, now)
            let wait = used - now - limit.slack
            state.put(bucket, wait > .zero ? used : used + limit.interval, generation)
            return wait > .zero ? wait : nil
        }
    }
}

extension RateLimiter.State {
    fileprivate mutating func take(_ bucket: Int) -> Duration? {
        recent[bucket] ?? older.removeValue(forKey: bucket)
    }

    /// Keeps two generations: those used since the last change, and those used before. A full generation becomes the older one.
    fileprivate mutating func put(_ bucket: Int, _ time: Duration, _ generation: Int) {
        if recent.count >= generation, recent[bucket] == nil {
            older = recent
            recent = [:]
        }
        recent[bucket] = time
    }
}
