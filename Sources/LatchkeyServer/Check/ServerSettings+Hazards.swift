import LatchkeyDecision
import LatchkeyForms
import LatchkeyLicensing
import LatchkeyStores

/// What a configuration leaves to defaults that are dangerous, or states so. Nothing of it stops a server.
extension ServerSettings {
    /// One sentence each with its place and what to do, for the check, the start and the console's first page.
    func hazards(_ policies: PolicySet?) -> [String] {
        storeHazards + networkHazards + (policies.map(Self.hazards) ?? [])
    }

    /// What the record lacks.
    /// - Parameter isProduction: whether there is a certificate that is none of a test's.
    func recordHazards(isProduction: Bool) -> [String] {
        guard let record else {
            guard isProduction, !tenants.isEmpty else { return [] }
            return [
                "record: No record of licenses is kept: who got which license is known to this node's last 10,000 decisions and to its log. Write record.folder and record.destination."
            ]
        }
        guard record.accounts == .pseudonyms, nodeSecret == nil else { return [] }
        return [
            "record.accounts: Each start makes other pseudonyms, as there is no nodeSecret: one account then has several. Name one file for all nodes."
        ]
    }

    private var storeHazards: [String] {
        let (keysAreShared, auditIsShared) = (stores.keys.isDatabase, stores.audit.isDatabase)
        let hasRegions = !stores.regions.isEmpty
        let sessionsAreShared = hasRegions || stores.sessions.isShared
        var hazards = stores.regions.filter { !$0.value.isShared }.keys.sorted().map { name in
            "stores.regions.\(name): Slots are kept by this node alone: each node counts the accounts at home there by itself. Name redis://… or a database."
        }
        if !sessionsAreShared, keysAreShared || auditIsShared {
            hazards.append(
                "stores.sessions: Slots are kept by this node alone, beside a database for several: each node then counts by itself. Name redis://… or the database."
            )
        } else if !hasRegions, stores.sessions == "memory" {
            hazards.append(
                "stores.sessions: Slots and used tokens are kept in memory: a restart forgets them. Name sqlite:PATH, redis://… or postgresql://…."
            )
        }
        if let address = try? StoreAddress(stores.sessions), case .redis = address, address.holdsPassword {
            hazards.append(
                "stores.sessions: The password of Redis stands in the configuration. Put it into a file of mode 0600, and name that with ?passwordFile=FILE."
            )
        }
        if stores.keys == "memory", keyEncryptionKey == nil {
            hazards.append(
                "stores.keys: Keys are kept in memory: each start makes others, and what was packaged before plays no more. Name sqlite:PATH or postgresql://…."
            )
        }
        if stores.audit == "memory" {
            hazards.append(
                "stores.audit: The audit is kept in memory: a restart forgets who did what. Name sqlite:PATH or postgresql://…."
            )
        }
        if keysAreShared, stores.copy == nil {
            hazards.append(
                "stores.copy: Without a node's own copy no node starts, and no key that it has not read is licensed, while PostgreSQL is away. Name sqlite:PATH."
            )
        }
        if keysAreShared, stores.fingerprint == nil {
            hazards.append(
                "stores.fingerprint: Any database is taken for that of the keys. Write the fingerprint that latchkey-server migrate prints."
            )
        }
        if sessionsAreShared, nodeSecret == nil {
            hazards.append(
                "nodeSecret: Each node makes its own at each start: heartbeats of another node are refused, and logs name one viewer differently. Name one file for all nodes."
            )
        }
        return hazards
    }

    private var networkHazards: [String] {
        var hazards: [String] = []
        if operators.certificate == nil, !operators.isOnLoopback {
            hazards.append(
                "operators: The listener takes operators' keys without TLS on \(operators.address.onOneLine), which others reach. Give it a certificate, or the address 127.0.0.1."
            )
        }
        if health == nil, operators.certificate != nil {
            hazards.append(
                "operators.certificate: Balancers, probes and Prometheus that ask for /readyz and /metrics at the operators' listener have to speak TLS to it, or they take this node for dead. Write health, a listener of its own for them, and name its port there."
            )
        }
        if health == nil, hasOperatorsOfSomeTenants {
            hazards.append(
                "admins: As an operator is not of all tenants, /metrics at the operators' listener needs a key: without one Prometheus gets 401. Write health, a listener of its own for it, or give Prometheus the key of an operator of all tenants."
            )
        }
        if operators.openID != nil, nodeSecret == nil {
            hazards.append(
                "operators.openID: Without nodeSecret a restart ends operators' sessions, and no other node knows them. Name one file for all nodes."
            )
        }
        for range in trustedProxies where range.isWide {
            hazards.append(
                "trustedProxies: \(range) is far more than your proxies: strangers may state their address and country. Name your proxies' addresses."
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
                "policies \(name): Its limits hold for each node by itself while the store of sessions is away, in licenses of two minutes, as outage.sessionStore defaults to “allow:2m”. Write that, or “refuse”."
        }
    }
}

extension Policy {
    /// Whether it counts what the store of sessions keeps.
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
