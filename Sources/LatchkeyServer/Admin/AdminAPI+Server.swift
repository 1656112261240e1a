import Foundation
import LatchkeyCore
import LatchkeyForms
import LatchkeyHTTP
import LatchkeyLicensees
import LatchkeyLicensing
import LatchkeyOperation
import LatchkeyPolicy
import LatchkeyVault

extension AdminAPI {
    static let serverRoutes: [Route<Page>] = [
        Route([.get], "/admin/v1/credentials", Page(.viewer, .own) { .admin($0.credentials) }),
        Route([.get], "/admin/v1/policies", Page(.viewer, .own) { .admin($0.policies) }),
        Route([.get], "/admin/v1/policies/{policy}", Page(.viewer, .own) { try $0.policy() }),
        Route([.get], "/admin/v1/audit", Page(.viewer, .own) { try await $0.auditPage() }),
        Route([.post], "/admin/v1/audit/verify", Page(.viewer, .server) { try await $0.verifyAudit() }),
        Route([.post], "/admin/v1/reload", Page(.operator, .server) { try await $0.readAgain() }),
        Route([.post], "/admin/v1/rewrap", Page(.security, .server) { try await $0.rewrap() }),
        Route([.post], "/admin/v1/tenants/{tenant}/data-key", Page(.security, .tenant) { try await $0.renewDataKey() }),
        Route([.post], "/admin/v1/tenants/{tenant}/reseal", Page(.security, .tenant) { try await $0.reseal() }),
        Route([.post], "/admin/v1/tenants/{tenant}/seed", Page(.security, .tenant) { try await $0.renewSeed() }),
    ]
}

extension AdminCall {
    /// The credentials that the operator's tenants have, their own or the server's.
    fileprivate var credentials: JSONValue {
        let usesServers = state.tenants.keys.contains { tenants.covers($0) && state.licensees[$0] == nil }
        let isShown = { (tenant: String?) in tenants.covers(tenant) || tenant == nil && usesServers }
        let own = state.notices.filter { $0.tenant.map { state.licensees[$0] != nil && tenants.covers($0) } ?? false }
        return .object([
            "testOnly": .flag(isShown(nil) && state.licensee.servesTestCredentialsOnly),
            "notices": .texts((isShown(nil) ? state.licensee.notices : []) + own.map(\.text)),
            "credentials": .array(
                state.credentials.filter { isShown($0.tenant) }.map { tenant, one in
                    .members([
                        "tenant": tenant.map { .text($0) },
                        "sha1": .text(one.sha1), "rsaBits": .number(one.rsaBits), "test": .flag(one.isTestCertificate),
                        "inToken": .flag(one.isInToken), "notAfter": one.notAfter.map { .date($0) },
                        "daysLeft": one.daysLeft.map { .number($0) }, "hasBegun": .flag(one.hasBegun),
                    ])
                }),
        ])
    }

    fileprivate var policies: JSONValue {
        .object([
            "policies": .array(
                state.policies.names.compactMap { name in
                    guard let policy = policy(named: name) else { return nil }
                    let users = state.tenants.filter { tenants.covers($0.key) && $0.value.settings.policy == name }
                        .keys.sorted()
                    return .object([
                        "name": .text(name), "digest": .text(policy.digest), "tenants": .texts(users),
                    ])
                })
        ])
    }

    fileprivate func policy() throws -> HTTPResponse {
        guard let policy = policy(named: path["policy"]) else { throw AdminRefusal.unknown("policy") }
        return .admin(
            .members([
                "name": .text(path["policy"]), "digest": .text(policy.digest),
                "policy": JSONValue(policy.canonicalJSON),
            ]))
    }

    /// Entries in their order: from `?from=NUMBER` on; else the last `limit` ones that fit a search, before `?before=NUMBER` if it is given.
    /// `next` is the number to ask before for earlier ones; with `from`, the next number to ask from.
    fileprivate func auditPage() async throws -> HTTPResponse {
        let (store, limit) = (shared.engines.audit, try limit())
        let search = AuditSearch(
            tenants: tenants, who: try text("who"), did: try text("did"), to: try text("to"), since: try day("since"),
            until: try day("until"))
        let last = try await store.last()?.sequence ?? 0
        let (entries, next): ([AuditEntry], UInt64?)
        if let from = try number("from") {
            (entries, next) = try await search.following(limit, from: max(1, from), last: last, in: store)
        } else {
            let end = min(last, try number("before").map { $0 == 0 ? 0 : $0 - 1 } ?? last)
            (entries, next) = try await search.latest(limit, upTo: end, in: store)
        }
        return .admin(
            .members([
                "last": tenants.isAll ? .number(Double(last)) : nil, "next": next.map { .number(Double($0)) },
                "entries": .array(
                    entries.map { entry in
                        .members([
                            "sequence": .number(Double(entry.sequence)), "hash": .text(entry.hash.hexString),
                            "event": JSONValue(Data(entry.text.utf8)),
                        ])
                    }),
            ]))
    }

    /// A day of the query in UTC, such as `2026-11-25`, or a time of it; empty if it is absent.
    private func day(_ name: String) throws(AdminRefusal) -> String {
        let text = try text(name)
        guard text.isEmpty || text.prefixMatch(of: /[0-9]{4}-[0-9]{2}-[0-9]{2}/) != nil else {
            throw .stated(name, "a day such as 2026-11-25")
        }
        return text
    }

    fileprivate func verifyAudit() async throws -> HTTPResponse {
        let verdict = try await AuditChain.verify(
            shared.engines.audit, knowing: shared.audit.lastSeen.map { AuditAnchor($0) })
        var anchor: AuditAnchor?
        if case .intact(let last) = verdict { anchor = AuditAnchor(last) }
        shared.metrics.auditIsIntact.set(anchor == nil ? 0 : 1)
        return .admin(
            .members([
                "intact": .flag(anchor != nil), "verdict": .text("\(verdict)"), "anchor": anchor.map { .text($0.text) },
            ]))
    }

    /// Reads the configuration again, and names its members that wait for a restart.
    fileprivate func readAgain() async throws -> HTTPResponse {
        try await change(.configurationLoaded, of: "configuration") {
            .admin(.object(["restart": .texts(try await reload())]))
        }
    }

    /// Wraps all data keys with the key encryption key that is in force.
    fileprivate func rewrap() async throws -> HTTPResponse {
        let (keys, store) = (state.wrapping, shared.engines.keys)
        return try await change(.keysRewrapped, of: "data-keys", ["wrapper": keys.current.id]) {
            .admin(.object(["rewrapped": .number(try await keys.rewrap(in: store))]))
        }
    }

    /// Makes a tenant's new data key, which seals from now on.
    fileprivate func renewDataKey() async throws -> HTTPResponse {
        let tenant = try tenant()
        return try await change(.dataKeyRenewed, of: tenant.name) {
            .admin(.object(["version": .number(Double(try await tenant.vault.secrets.renewDataKey()))]))
        }
    }

    /// Makes a tenant's new seed, which keys of new content come from. Content that has keys keeps its seed.
    fileprivate func renewSeed() async throws -> HTTPResponse {
        let tenant = try tenant()
        return try await change(.seedRenewed, of: tenant.name) {
            .admin(.object(["version": .number(Double(try await tenant.vault.secrets.renewSeed().number))]))
        }
    }

    /// Seals the rows of older data keys again, for up to 45 seconds. `done` is false if some are left: ask again.
    fileprivate func reseal() async throws -> HTTPResponse {
        let tenant = try tenant()
        return try await change(.keysResealed, of: tenant.name) {
            let work = Task { try await tenant.vault.secrets.reseal() }
            let limit = Task { [timekeeper = shared.timekeeper] in
                try await timekeeper.sleep(for: .seconds(45))
                work.cancel()
            }
            defer { limit.cancel() }
            let count = try await work.value
            return .admin(.object(["resealed": .number(count), "done": .flag(!work.isCancelled)]))
        }
    }
}
