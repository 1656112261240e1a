import Foundation
import LatchkeyCore
import LatchkeyDecision
import LatchkeyForms
import LatchkeyHTTP
import LatchkeyLicensees
import LatchkeyLicensing
import LatchkeyVault

extension AdminAPI {
    static let serverRoutes: [Route<Page>] = [
        .page(
            .get, "/credentials", .viewer, "FairPlay credentials by certificate; never private keys",
            .json(
                .named(
                    "Credentials",
                    ["testOnly": .flag, "notices": [.text], "credentials": [CredentialSummary.form.schema]]))
        ) { .admin($0.credentials) },
        .page(
            .get, "/policies", .viewer, "Policies in force",
            .json(["policies": [["name": .text, "digest": .sha256, "tenants": [.text]]]])
        ) { .admin($0.policies) },
        .page(
            .get, "/policies/{policy}", .viewer, "One policy in force",
            .json(["name": .text, "digest": .sha256, "policy": Policy.schema])
        ) { try $0.policy() },
        .page(
            .get, "/audit", .viewer, "Audit entries in order",
            query: [
                AdminQuery("from", "The first entry's number; without a search.", .count), .before,
                AdminQuery("who", "The actor, or part of its name."), AdminQuery("did", "The action."),
                AdminQuery("to", "The target, or part of it."),
                AdminQuery("since", "The earliest day or time, in UTC."),
                AdminQuery("until", "The latest day or time, in UTC."), .limit,
            ],
            .json([
                "last?": .count, "entries": [AuditEntry.form.schema],
                "next?": .count.explained(
                    "The next page: the `before` for earlier entries or, with `from`, the next `from`. A page searches 10,000 entries, so it may have fewer than `limit`, or none, and a `next`. Without `next` there are no more."
                ),
            ])
        ) { try await $0.auditPage() },
        .page(
            .post, "/audit/verify", .viewer, of: .server, "Verify the whole chain of the audit",
            .json(["intact": .flag, "verdict": .text, "anchor?": .text])
        ) { try await $0.verifyAudit() },
        .page(
            .post, "/reload", .operator, of: .server, "Reload the configuration", isAudited: true,
            .json(["restart": [.text]], "Reloaded; `restart` lists the members that take effect after a restart.")
        ) { try await $0.readAgain() },
        .page(
            .post, "/rewrap", .security, of: .server, "Wrap all data keys with the key encryption key in force",
            isAudited: true, .json(["rewrapped": .count])
        ) { try await $0.rewrap() },
        .page(
            .post, "/tenants/{tenant}/data-key", .security, "Create a tenant's new data key, which seals from now on",
            isAudited: true, .json(["version": .count])
        ) { try await $0.renewDataKey() },
        .page(
            .post, "/tenants/{tenant}/reseal", .security,
            "Reseal the rows of older data keys, for up to 45 seconds", isAudited: true,
            .json(["resealed": .count, "done": .flag])
        ) { try await $0.reseal() },
        .page(
            .post, "/tenants/{tenant}/seed", .security,
            "Create a tenant's new seed, which derives the keys of new content",
            isAudited: true, .json(["version": .count])
        ) { try await $0.renewSeed() },
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
                state.credentials.filter { isShown($0.tenant) }.map(CredentialSummary.form.json)),
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
                "entries": .array(entries.map(AuditEntry.form.json)),
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
        shared.show(verdict)
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

extension CredentialSummary {
    fileprivate static let form = AnswerForm<(tenant: String?, credential: CredentialSummary)>([
        .value("tenant") { $0.tenant },
        .made("sha1", .text.with(["pattern": .text("^[0-9a-f]{40}$")])) { .text($0.credential.sha1) },
        .value("rsaBits") { $0.credential.rsaBits }, .value("test") { $0.credential.isTestCertificate },
        .value("inToken") { $0.credential.isInToken }, .value("notAfter") { $0.credential.notAfter },
        .made("daysLeft?", .whole) { $0.credential.daysLeft.map { .number($0) } },
        .value("hasBegun") { $0.credential.hasBegun },
    ])
}

extension AuditEntry {
    fileprivate static let form = AnswerForm<AuditEntry>(
        named: "AuditEntry",
        [
            .value("sequence") { $0.sequence }, .made("hash", .sha256) { .text($0.hash.hexString) },
            .made("event", AuditEvent.schema) { JSONValue(Data($0.text.utf8)) },
        ])
}
