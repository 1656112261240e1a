package import LatchkeyCore

/// The health of everything outside that a node needs: stores, and each tenant's callout and key set. Readiness, metrics, log and console
/// read it here.
///
/// Source: `Documentation/LicenseServer.md` §9.2.
package final class EngineTable: Sendable {
    private let timekeeper: any Timekeeper
    private let added: @Sendable (EngineHealth) -> Void
    private let engines = Locked<[EngineHealth]>([])

    /// - Parameters:
    ///   - timekeeper: the time. Defaults to the machine's.
    ///   - added: called once for each engine that comes in.
    package init(
        timekeeper: any Timekeeper = SystemTimekeeper(), added: @escaping @Sendable (EngineHealth) -> Void = { _ in }
    ) {
        self.timekeeper = timekeeper
        self.added = added
    }

    /// All engines: the stores, then those of the tenants by their names.
    package var all: [EngineHealth] {
        engines.withLock { $0 }.enumerated().sorted { one, other in
            let (first, second) = (one.element.tenant ?? "", other.element.tenant ?? "")
            return first == second ? one.offset < other.offset : first < second
        }.map(\.element)
    }

    /// Takes an engine in.
    package func add(_ health: EngineHealth) {
        engines.withLock { $0.append(health) }
        added(health)
    }

    /// The engine of a tenant, or of all tenants, which stays the same over all configurations.
    package func health(_ role: EngineRole, of tenant: String?, engine: String) -> EngineHealth {
        let (health, isNew) = engines.withLock { engines in
            if let known = engines.first(where: { $0.name == role.rawValue && $0.tenant == tenant }) {
                return (known, false)
            }
            let health = EngineHealth(
                role.rawValue, engine: engine, tenant: tenant, limits: role == .callout ? .callout : .immediate,
                timekeeper: timekeeper)
            engines.append(health)
            return (health, true)
        }
        if isNew { added(health) }
        return health
    }

    /// The engine of a tenant, or `nil`.
    package func known(_ role: EngineRole, of tenant: String) -> EngineHealth? {
        engines.withLock { $0.first { $0.name == role.rawValue && $0.tenant == tenant } }
    }

    /// Forgets engines that a configuration no longer has.
    package func keep(_ isNeeded: (EngineRole, _ tenant: String?) -> Bool) {
        engines.withLock { engines in
            engines.removeAll { health in
                EngineRole(rawValue: health.name).map { !isNeeded($0, health.tenant) } ?? false
            }
        }
    }
}

/// An engine's role. The raw values are stable.
package enum EngineRole: String, Sendable, Hashable, CaseIterable {
    case keyStore, auditStore, sessionStore, tokenStore
    /// A tenant's own service that says who may play.
    case callout
    /// A tenant's keys that sign tokens.
    case keySet
    /// Where the rows of the record go.
    case record
    /// The provider that operators sign in at.
    case openID

    /// Its name for people.
    package var words: String {
        switch self {
        case .keyStore: "The key store"
        case .auditStore: "The audit store"
        case .sessionStore: "The session store"
        case .tokenStore: "The used-token store"
        case .callout: "The callout"
        case .keySet: "The key set for tokens"
        case .record: "The record's destination"
        case .openID: "The OpenID provider"
        }
    }

    /// The work that it has in any case.
    fileprivate var operations: Set<EngineOperation> {
        switch self {
        case .keyStore, .sessionStore, .tokenStore: [.read, .write]
        case .auditStore, .record: [.write]
        case .callout, .keySet: [.read]
        case .openID: [.signIn]
        }
    }

    /// How much the nodes may grant together during its outage; `nil` if nothing of it is counted.
    package var boundInOutage: String? {
        switch self {
        case .sessionStore: "each node enforces limits separately, so an account can use its limit once per node."
        case .tokenStore: "each node refuses only tokens that it accepted itself, so a token can be used once per node."
        default: nil
        }
    }

    /// The effect of its outage.
    package var consequence: String {
        switch self {
        case .keyStore: "Cached keys are still licensed; other keys get no license, and nothing can be packaged."
        case .auditStore: "Actions that must be audited are refused."
        case .sessionStore, .tokenStore: "The policies' outage rules apply: \(boundInOutage ?? "")"
        case .callout:
            "Its earlier answers remain valid for an hour; the policies' outage rules apply to everyone else."
        case .keySet: "The last valid key set stays in use."
        case .record: "Rows wait in this node's spool and are shipped once it responds."
        case .openID: "Operators cannot sign in there; existing sessions and operators' keys still work."
        }
    }
}

extension EngineHealth {
    /// Its name for people: `The session store in eu`.
    package var words: String {
        (EngineRole(rawValue: name)?.words ?? "The \(name)") + (region.map { " in \($0)" } ?? "")
    }

    /// The kinds of work that it has, in the order of their names.
    package var operations: [EngineOperation] {
        (EngineRole(rawValue: name)?.operations ?? []).union(standings.keys).sorted { $0.rawValue < $1.rawValue }
    }

    /// The work that it does not do, such as `accepts no writes`; `nil` if it does all.
    package var trouble: String? {
        let away = operations.filter { isAway(for: $0) }
        guard !away.contains(.read) else { return EngineOperation.read.words.away }
        return away.isEmpty ? nil : away.map(\.words.away).joined(separator: ", ")
    }

    /// The effect of its outage.
    package var consequence: String {
        let away = operations.filter { isAway(for: $0) }
        if away.count == 1, let consequence = away.first?.consequence { return consequence }
        let consequence = EngineRole(rawValue: name)?.consequence ?? ""
        return region == nil ? consequence : "\(consequence) This applies only to accounts whose home is that region."
    }
}
