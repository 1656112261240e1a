package import Foundation
import LatchkeyCore
import LatchkeyFairPlay

/// Makes a token good for one session.
///
/// One playback asks for several keys at once with one token. So the first use binds the token to its session; the same session may
/// use it again for a short time, and nobody else ever.
///
/// Source: `Documentation/LicenseServer.md` §5.2.
package struct TokenUse: Sendable {
    /// What is to be done with a token.
    package enum Verdict: Sendable, Equatable {
        /// The first use.
        case first
        /// Another use by the same session in time.
        case again
        /// The memory does not answer, and the rule for that allows it.
        case unchecked
        /// No license.
        case refused(LicenseRefusal)
    }

    /// How long the session may use its token again.
    package let window: Duration
    private let store: any TokenUseStore
    private let leeway: Duration
    private let outage: OutageChoice
    private let timekeeper: any Timekeeper
    private let report: @Sendable (any Error) -> Void

    /// - Parameters:
    ///   - store: remembers used tokens.
    ///   - window: how long the session may use its token again. Defaults to 60 s.
    ///   - leeway: how much longer than to its end a token is remembered, as nodes' clocks differ. Defaults to 30 s.
    ///   - outage: what happens while the store throws.
    ///   - timekeeper: the time. Defaults to the machine's.
    ///   - report: called with each error of the store.
    package init(
        _ store: any TokenUseStore, window: Duration = .seconds(60), leeway: Duration = .seconds(30),
        outage: OutageChoice, timekeeper: any Timekeeper = SystemTimekeeper(),
        report: @escaping @Sendable (any Error) -> Void
    ) {
        self.store = store
        self.window = window
        self.leeway = leeway
        self.outage = outage
        self.timekeeper = timekeeper
        self.report = report
    }

    /// Uses a token.
    /// - Parameters:
    ///   - token: a verified token; without a `jti` it is refused.
    ///   - tenant: whose token it is: two tenants' token services may make equal identifiers.
    ///   - session: the playback that uses it.
    package func verdict(on token: VerifiedToken, of tenant: String, in session: String) async -> Verdict {
        guard let identifier = token.identifier, !identifier.isEmpty else { return .refused(.tokenNotSingle) }
        let now = timekeeper.date
        let end = token.expiry.addingTimeInterval(leeway.inSeconds)
        let binding: TokenBinding
        let wanted: TokenUseDigest
        do {
            wanted = try TokenUseDigest(tenant, session)
            binding = try await store.bind(try TokenUseDigest(tenant, identifier), to: wanted, at: now, until: end)
        } catch {
            report(error)
            return outage == .allow ? .unchecked : .refused(.tokenUseUnavailable)
        }
        if binding.isNew { return .first }
        guard binding.session == wanted, now.timeIntervalSince(binding.date) <= window.inSeconds else {
            return .refused(.tokenUsedElsewhere)
        }
        return .again
    }
}

/// A token's or a session's name as stores keep it: the SHA-256 of tenant and name, so that long names take no more room than short
/// ones, and no store holds a name.
package struct TokenUseDigest: Sendable, Hashable {
    /// 32 bytes.
    package let bytes: [UInt8]

    /// The digest of the tenant's length in 8 bytes, the tenant, and the name.
    package init(_ tenant: String, _ name: String) throws(OpenSSLError) {
        let length = withUnsafeBytes(of: UInt64(tenant.utf8.count).bigEndian) { Array($0) }
        bytes = try MessageDigest.sha256(length + Array(tenant.utf8) + Array(name.utf8))
    }
}

/// Which session a token belongs to.
package struct TokenBinding: Sendable, Hashable {
    /// The session.
    package let session: TokenUseDigest
    /// When it used the token first.
    package let date: Date
    /// Whether this use is the first.
    package let isNew: Bool

    /// - Parameters:
    ///   - session: the session.
    ///   - date: when it used the token first.
    ///   - isNew: whether this use is the first.
    package init(session: TokenUseDigest, date: Date, isNew: Bool) {
        self.session = session
        self.date = date
        self.isNew = isNew
    }
}

/// Remembers which session a token belongs to. Shared by all nodes, or each token is good once per node.
package protocol TokenUseStore: Sendable {
    /// Binds a token to a session, unless it is bound; both in one step, so that of two sessions at once one gets it.
    /// - Parameters:
    ///   - token: the token.
    ///   - session: the session that uses it now.
    ///   - date: now.
    ///   - end: from when on the binding may be forgotten.
    /// - Returns: the binding in force.
    /// - Throws: anything, where the store does not answer or has no room; it must not forget a binding instead.
    func bind(
        _ token: TokenUseDigest, to session: TokenUseDigest, at date: Date, until end: Date
    ) async throws -> TokenBinding
}
