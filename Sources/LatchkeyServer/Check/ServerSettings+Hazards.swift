import LatchkeyDecision
import LatchkeyForms
import LatchkeyLicensing
import LatchkeyStores

/// A configuration's dangerous settings, stated or by default. None of them stops a server.
extension ServerSettings {
    /// One sentence each with its place and a remedy, for the check, the start and the console's first page.
    func hazards(_ policies: PolicySet?) -> [String] {
        storeHazards + networkHazards + (policies.map(Self.hazards) ?? [])
    }

    /// The hazards of the record.
    /// - Parameter isProduction: whether there is a certificate other than a test's.
    func recordHazards(isProduction: Bool) -> [String] {
        guard let record else {
            guard isProduction, !tenants.isEmpty else { return [] }
            return [
                "record: No record of licenses is kept: only this node's last 10,000 decisions and its log show who got which license. Set record.folder and record.destination."
            ]
        }
        guard record.accounts == .pseudonyms, nodeSecret == nil else { return [] }
        return [
            "record.accounts: Without nodeSecret, each start creates new pseudonyms, so one account has several. Use one file for all nodes."
        ]
    }

    private var storeHazards: [String] {
        let (keysAreShared, auditIsShared) = (stores.keys.isDatabase, stores.audit.isDatabase)
        let hasRegions = !stores.regions.isEmpty
        let sessionsAreShared = hasRegions || stores.sessions.isShared
        var hazards = stores.regions.filter { !$0.value.isShared }.keys.sorted().map { name in
            "stores.regions.\(name): Slots are kept only by this node: each node counts the accounts whose home is there separately. Use redis://… or a database."
        }
        if !sessionsAreShared, keysAreShared || auditIsShared {
            hazards.append(
                "stores.sessions: Slots are kept only by this node, although its database can serve several: each node then counts separately. Use redis://… or the database."
            )
        } else if !hasRegions, stores.sessions == "memory" {
            hazards.append(
                "stores.sessions: Slots and used tokens are kept in memory: a restart loses them. Use sqlite:PATH, redis://… or postgresql://…."
            )
        }
        if let address = try? StoreAddress(stores.sessions), case .redis = address, address.holdsPassword {
            hazards.append(
                "stores.sessions: The password of Redis is in the configuration. Put it into a file of mode 0600, and use ?passwordFile=FILE."
            )
        }
        if stores.keys == "memory", keyEncryptionKey == nil {
            hazards.append(
                "stores.keys: Keys are kept in memory: each start creates new ones, and content packaged earlier no longer plays. Use sqlite:PATH or postgresql://…."
            )
        }
        if stores.audit == "memory" {
            hazards.append(
                "stores.audit: The audit is kept in memory: a restart loses it. Use sqlite:PATH or postgresql://…."
            )
        }
        if keysAreShared, stores.copy == nil {
            hazards.append(
                "stores.copy: Without a copy, a node cannot start while PostgreSQL is unavailable, and keys that it has not read get no license. Use sqlite:PATH."
            )
        }
        if keysAreShared, stores.fingerprint == nil {
            hazards.append(
                "stores.fingerprint: Any database is accepted as the keys' database. Use the fingerprint that latchkey-server migrate prints."
            )
        }
        if sessionsAreShared, nodeSecret == nil {
            hazards.append(
                "nodeSecret: Each node creates its own at each start: other nodes refuse its heartbeats, and each node's log names a viewer differently. Use one file for all nodes."
            )
        }
        return hazards
    }

    private var networkHazards: [String] {
        var hazards: [String] = []
        if operators.certificate == nil, !operators.isOnLoopback {
            hazards.append(
                "operators: The listener accepts operators' keys without TLS on \(operators.address.onOneLine), which other machines can reach. Give it a certificate, or the address 127.0.0.1."
            )
        }
        if health == nil, operators.certificate != nil {
            hazards.append(
                "operators.certificate: Balancers, probes and Prometheus must use TLS for /readyz and /metrics on the operators' listener, or they consider this node down. Add health, a separate listener for them, and use its port there."
            )
        }
        if health == nil, hasOperatorsOfSomeTenants {
            hazards.append(
                "admins: Because an operator is limited to some tenants, /metrics on the operators' listener needs a key: without one Prometheus gets 401. Add health, a separate listener for it, or give Prometheus the key of an operator of all tenants."
            )
        }
        if operators.openID != nil, nodeSecret == nil {
            hazards.append(
                "operators.openID: Without nodeSecret, a restart ends operators' sessions, and other nodes do not accept them. Use one file for all nodes."
            )
        }
        for range in trustedProxies where range.isWide {
            hazards.append(
                "trustedProxies: \(range) is far larger than your proxies need: clients could forge their address and country. Use your proxies' addresses."
            )
        }
        return hazards
    }

    private static func hazards(_ policies: PolicySet) -> [String] {
        policies.names.sorted().compactMap { name in
            guard let policy = policies[name], policy.limitsAccounts, policy.outage.sessionStore == nil else {
                return nil
            }
            return
                "policies \(name): While the session store is unavailable, each node applies its limits separately, with licenses of two minutes, because outage.sessionStore defaults to “allow:2m”. Set it to that, or to “refuse”."
        }
    }
}

extension Policy {
    /// Whether it counts entries in the store of sessions.
    fileprivate var limitsAccounts: Bool {
        concurrency.limit != nil || concurrency.perClass?.isEmpty == false || devices.limit != nil
    }
}

extension ServerSettings.Listener {
    fileprivate var isOnLoopback: Bool { address == "::1" || address.hasPrefix("127.") }
}

extension String {
    /// Whether several nodes can keep sessions there.
    fileprivate var isShared: Bool { isDatabase || hasPrefix("redis") }

    /// Whether the address is that of a database of several nodes.
    fileprivate var isDatabase: Bool { hasPrefix("postgresql://") || hasPrefix("postgres://") }
}
