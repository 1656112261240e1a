import Foundation
import LatchkeyCore
import LatchkeyDecision
import LatchkeyForms
import LatchkeyHTTP
import LatchkeyLicensing
import LatchkeyPackaging
import LatchkeyVault

extension AdminAPI {
    static let tenantRoutes: [Route<Page>] = [
        .page(
            .get, "/tenants", .viewer, "Tenants with their settings and packagers",
            .json(["tenants": [AdminCall.tenantForm.schema]])
        ) { .admin($0.tenantList) },
        .page(
            .get, "/tenants/{tenant}/keys", .viewer, "Keys by content and kid; never their values",
            query: [AdminQuery("search", "A prefix of the content's name, or a complete kid."), .after, .limit],
            .json(["keys": [KeyRow.form.schema], "next?": .text, "count?": .count])
        ) { try await $0.keys() },
        .page(
            .get, "/tenants/{tenant}/keys/{kid}", .viewer, "A key's facts and the policy of its licenses",
            .json(["key": KeyRow.form.schema, "policies": [.text], "policy?": .object, "policyDigest?": .text])
        ) { try await $0.key() },
        .page(
            .delete, "/tenants/{tenant}/keys/{kid}", .security, "Remove a key", isAudited: true,
            .json(["kid": .text, "removed": .always(.flag(true))])
        ) { try await $0.remove() },
        .page(
            .post, "/tenants/{tenant}/keys/{kid}/disable", .operator, "Disable a key", isAudited: true,
            .done(["kid": .text, "disabled": .always(.flag(true))], "It is in force on all nodes.")
        ) { try await $0.disable(true) },
        .page(
            .post, "/tenants/{tenant}/keys/{kid}/enable", .operator, "Enable a key", isAudited: true,
            .done(["kid": .text, "disabled": .always(.flag(false))], "It is in force on all nodes.")
        ) { try await $0.disable(false) },
        .page(
            .post, "/tenants/{tenant}/cpix", .security, "Import the keys of a CPIX document",
            query: [
                AdminQuery("policy", "A policy of new keys; may be repeated."),
                AdminQuery("content", "The content of keys for which the document does not state one."),
                AdminQuery("replace", "The kids of keys to replace, separated by commas."),
            ], body: OpenAPI.body("application/xml", .text), isAudited: true,
            .json(
                ["imported": .count, "conflicts": [.text], "replaced?": [.text]],
                "The number of imported keys, and the replaced keys."
            ).or(
                409,
                [
                    "imported": .count, "conflicts": [.text], "replaced?": [.text], "code": .text, "reason": .text,
                    "remedy": .text,
                ], "Keys in `conflicts` already exist with a different value and were kept; the others were imported.")
        ) { try await $0.importKeys() },
        .page(
            .get, "/tenants/{tenant}/cpix", .security, "A content's keys as a CPIX document",
            query: [
                AdminQuery("content", "The content.", isRequired: true), AdminQuery("version", "The version of CPIX."),
            ], isAudited: true,
            .file("application/xml", "The document. The export is in the audit before the reply is sent.")
        ) { try await $0.exportKeys() },
    ]
}

extension KeySetSource.Standing {
    fileprivate static let form = AnswerForm<KeySetSource.Standing>([
        .value("usable") { $0.keys }, .value("refused") { $0.refused.count },
        .value("problems") { $0.problems.map { String($0.prefix(500)).onOneLine } },
    ])
}

extension AdminCall {
    fileprivate static let tenantForm = AnswerForm<(call: AdminCall, tenant: Tenant)>(
        named: "Tenant",
        [
            .value("name") { $0.tenant.name },
            .value("ownCredentials") { $0.call.state.licensees[$0.tenant.name] != nil },
            .made("limits?", limitsSchema) { $0.call.limits(of: $0.tenant) },
            .value("policy") { $0.tenant.settings.policy }, .value("keys") { $0.tenant.settings.keys.rawValue },
            .value("clearKey") { $0.tenant.settings.allowsClearKey },
            .value("acceptsTokens") { $0.tenant.settings.tokens.keys != nil },
            .made("tokenKeys?", KeySetSource.Standing.form.schema) {
                $0.tenant.tokenKeyStanding.map(KeySetSource.Standing.form.json)
            },
            .value("origins") { $0.tenant.settings.origins.sorted() },
            .value("signers") { $0.tenant.settings.signers.keys.sorted() },
            .list("packagers", of: packagerForm) { $0.tenant.settings.packagers },
        ])

    private static let packagerForm = AnswerForm<TenantSettings.Caller>([
        .value("name") { $0.name }, .value("rights") { $0.rights.map(\.rawValue).sorted() },
    ])

    fileprivate var tenantList: JSONValue {
        let shown = state.tenants.filter { tenants.covers($0.key) }.sorted { $0.key < $1.key }
        return .object(["tenants": .array(shown.map { Self.tenantForm.json((call: self, tenant: $0.value)) })])
    }

    private static let limitsSchema = JSONSchema.map([
        "limit": .count, "used?": .count,
        "atLeast?": .flag.explained("`true` if `used` does not count everything yet."),
    ])

    /// The tenant's limits and their use; `nil` without limits.
    fileprivate func limits(of tenant: Tenant) -> JSONValue? {
        let limits = tenant.settings.limits
        let used = tenant.usage.used(limits, at: shared.timekeeper.date)
        let rows = TenantLimit.allCases.compactMap { limit in
            limits[limit].map { bound in
                (
                    limit.rawValue,
                    JSONValue.members([
                        "limit": .number(bound), "used": used[limit].map { .number($0.value) },
                        "atLeast": used[limit].flatMap { $0.isWhole ? nil : .flag(true) },
                    ])
                )
            }
        }
        return rows.isEmpty ? nil : .object(Dictionary(rows) { first, _ in first })
    }

    /// A page of keys by content and kid. `next` is the cursor of the next page; `count`, on the first one, the number of all, at most a minute old.
    fileprivate func keys() async throws -> HTTPResponse {
        let (tenant, limit, search) = (try tenant(), try limit(), try text("search"))
        let cursor = try text("after")
        let after = cursor.isEmpty ? nil : KeyRow.Cursor(text: cursor)
        guard cursor.isEmpty || after != nil else { throw AdminRefusal.stated("after", "the next of a page") }
        let store = shared.engines.keys
        let rows = try await store.page(of: tenant.name, search: search, after: after, limit: limit)
        let count = after == nil && search.isEmpty ? try await shared.keyCounts.count(of: tenant.name, in: store) : nil
        return .admin(
            .members([
                "keys": .array(rows.map(KeyRow.form.json)), "count": count.map { .number($0) },
                "next": rows.count < limit ? nil : rows.last.map { .text($0.cursor.text) },
            ]))
    }

    /// A key's facts and the policy that its licenses follow; never its bytes.
    fileprivate func key() async throws -> HTTPResponse {
        let (tenant, kid) = (try tenant(), try kid())
        guard let row = try await shared.engines.keys.rows([kid], of: tenant.name).first else {
            throw VaultError.unknown(kid)
        }
        var facts = KeyFacts()
        (facts.id, facts.content, facts.track, facts.policies) = (row.kid, row.content.written, row.track, row.policies)
        let policy = try? state.policies.policy(for: facts, tenant: tenant.settings.policy)
        return .admin(
            .members([
                "key": KeyRow.form.json(row),
                "policies": .texts([tenant.settings.policy].compactMap { $0 } + row.policies),
                "policy": policy.flatMap { JSONValue($0.canonicalJSON) },
                "policyDigest": policy.map { .text($0.digest) },
            ]))
    }

    fileprivate func disable(_ isDisabled: Bool) async throws -> HTTPResponse {
        let (tenant, kid) = (try tenant(), try kid())
        return try await change(isDisabled ? .keyDisabled : .keyEnabled, of: "\(tenant.name)/\(kid)") {
            let isStored = try await tenant.vault.setDisabled(isDisabled, kid)
            return .done(["kid": .text("\(kid)"), "disabled": .flag(isDisabled)], isStored: isStored)
        }
    }

    /// Removes a key, after the audit has recorded it.
    fileprivate func remove() async throws -> HTTPResponse {
        let (tenant, kid) = (try tenant(), try kid())
        let removal = try await tenant.vault.removal(of: kid)
        return try await change(.keyRemoved, of: "\(tenant.name)/\(kid)", removal.details) {
            try await tenant.vault.carryOut(removal)
            shared.keyCounts.forget(tenant.name)
            return .admin(.object(["kid": .text("\(kid)"), "removed": .flag(true)]))
        }
    }

    /// Imports the keys of a CPIX document; `?policy=NAME` sets the policies of new keys, `?content=NAME` the content of keys without one
    /// in the document, and `?replace=KID,KID` names the keys that replace an existing key.
    fileprivate func importKeys() async throws -> HTTPResponse {
        let tenant = try tenant()
        var wanted = try CPIXExchange.Change(ofOperator: request)
        wanted.policies = request.queryItems.filter { $0.name == "policy" }.compactMap(\.value)
        for name in wanted.policies where policy(named: name) == nil { throw AdminRefusal.unknown("policy") }
        let change = wanted
        let details = [
            "policies": change.policies.joined(separator: " "),
            "replace": change.replaced.map { "\($0)" }.sorted().joined(separator: " "),
        ]
        return try await self.change(.keyImported, of: tenant.name, details.filter { !$0.value.isEmpty }) {
            let outcome = try await tenant.cpix.importing(request.body, change) {
                replacement, carryOut throws(LicenseRefusal) in
                let object = "\(tenant.name)/\(replacement.kid)"
                do { try await self.change(.keyReplaced, of: object, replacement.details, carryOut) } catch {
                    let error = AdminRefusal(error)
                    throw LicenseRefusal(
                        .vendor(code: error.code, status: error.status), reason: error.reason, remedy: error.remedy)
                }
            }
            shared.keyCounts.forget(tenant.name)
            // The keys are in; the entry before says so if this one, with their kids, is not taken.
            try? await audit(.keyImported, of: tenant.name, outcome.details)
            return outcome.response
        }
    }

    fileprivate func exportKeys() async throws -> HTTPResponse {
        let tenant = try tenant()
        let outcome = try await tenant.cpix.exporting(request)
        // Before the keys leave: without an audit entry they stay.
        try await audit(.keyExported, of: tenant.name, outcome.details)
        return outcome.response
    }
}

extension CPIXExchange.Outcome {
    /// Its details for the audit.
    fileprivate var details: [String: String] {
        [
            "endpoint": "admin", "count": "\(keys.count)",
            "kids": keys.prefix(100).map { "\($0.kid)" }.joined(separator: " "),
            "recipients": recipients.map(\.hexString).joined(separator: " "),
        ]
    }
}

extension KeyRow {
    /// The facts of a key without its bytes.
    fileprivate static let form = AnswerForm<KeyRow>(
        named: "Key",
        [
            .value("kid") { "\($0.kid)" }, .value("content") { $0.content.written },
            .value("track") { $0.track.rawValue },
            .value("trackType") { one -> String? in one.trackType.isEmpty ? nil : one.trackType },
            .value("policies") { $0.policies }, .value("scheme") { $0.scheme?.rawValue },
            .value("periods") { $0.periods.map { UInt64($0) } }, .value("created") { $0.created },
            .value("disabled") { $0.isDisabled }, .value("dataKey") { UInt64($0.sealed.dataKey) },
        ])
}

extension KeyRow.Cursor {
    /// One word for an address: the kid, then the content.
    fileprivate var text: String { Base64URL.text(kid.bytes + content.bytes) }

    fileprivate init?(text: String) {
        guard let bytes = Base64URL.bytes(of: text.utf8), let kid = KeyID(bytes: bytes.prefix(16)),
            let content = ContentName(bytes: Data(bytes.dropFirst(16)))
        else { return nil }
        self.init(content: content, kid: kid)
    }
}
