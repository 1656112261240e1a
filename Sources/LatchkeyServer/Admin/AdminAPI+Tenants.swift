import Foundation
import LatchkeyCore
import LatchkeyForms
import LatchkeyHTTP
import LatchkeyLicensing
import LatchkeyOperation
import LatchkeyPackaging
import LatchkeyPolicy
import LatchkeyTokens
import LatchkeyVault

extension AdminAPI {
    static let tenantRoutes: [Route<Page>] = [
        Route([.get], "/admin/v1/tenants", Page(.viewer, .own) { .admin($0.tenantList) }),
        Route([.get], "/admin/v1/tenants/{tenant}/keys", Page(.viewer, .tenant) { try await $0.keys() }),
        Route([.get], "/admin/v1/tenants/{tenant}/keys/{kid}", Page(.viewer, .tenant) { try await $0.key() }),
        Route([.delete], "/admin/v1/tenants/{tenant}/keys/{kid}", Page(.security, .tenant) { try await $0.remove() }),
        Route(
            [.post], "/admin/v1/tenants/{tenant}/keys/{kid}/disable",
            Page(.operator, .tenant) { try await $0.disable(true) }),
        Route(
            [.post], "/admin/v1/tenants/{tenant}/keys/{kid}/enable",
            Page(.operator, .tenant) { try await $0.disable(false) }),
        Route([.post], "/admin/v1/tenants/{tenant}/cpix", Page(.security, .tenant) { try await $0.importKeys() }),
        Route([.get], "/admin/v1/tenants/{tenant}/cpix", Page(.security, .tenant) { try await $0.exportKeys() }),
    ]
}

extension KeySetSource.Standing {
    fileprivate var json: JSONValue {
        .object([
            "usable": .number(keys), "refused": .number(refused.count),
            "problems": .texts(problems.map { String($0.prefix(500)).onOneLine }),
        ])
    }
}

extension AdminCall {
    fileprivate var tenantList: JSONValue {
        .object([
            "tenants": .array(
                state.tenants.filter { tenants.covers($0.key) }.sorted { $0.key < $1.key }.map { name, tenant in
                    let settings = tenant.settings
                    return .members([
                        "name": .text(name), "ownCredentials": .flag(state.licensees[name] != nil),
                        "limits": limits(of: tenant), "policy": settings.policy.map { .text($0) },
                        "keys": .text(settings.keys.rawValue), "clearKey": .flag(settings.allowsClearKey),
                        "acceptsTokens": .flag(settings.tokens.keys != nil),
                        "tokenKeys": tenant.tokenKeyStanding?.json,
                        "origins": .texts(settings.origins.sorted()),
                        "signers": .texts(settings.signers.keys.sorted()),
                        "packagers": .array(
                            settings.packagers.map {
                                .object([
                                    "name": .text($0.name), "rights": .texts($0.rights.map(\.rawValue).sorted()),
                                ])
                            }),
                    ])
                })
        ])
    }

    /// The tenant's limits and what it uses of them; `nil` without any.
    private func limits(of tenant: Tenant) -> JSONValue? {
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
                "keys": .array(rows.map(\.facts)), "count": count.map { .number($0) },
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
                "key": row.facts, "policies": .texts([tenant.settings.policy].compactMap { $0 } + row.policies),
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

    /// Removes a key, after the audit has what it was.
    fileprivate func remove() async throws -> HTTPResponse {
        let (tenant, kid) = (try tenant(), try kid())
        let removal = try await tenant.vault.removal(of: kid)
        return try await change(.keyRemoved, of: "\(tenant.name)/\(kid)", removal.details) {
            try await tenant.vault.carryOut(removal)
            shared.keyCounts.forget(tenant.name)
            return .admin(.object(["kid": .text("\(kid)"), "removed": .flag(true)]))
        }
    }

    /// Takes the keys of a CPIX document in; `?policy=NAME` sets the policies of those that are new, `?content=NAME` the content of those
    /// for which the document states none, and `?replace=KID,KID` names those that take the place of a key that is there.
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
            let outcome = try await tenant.cpix.importing(request.body, change) { replacement throws(LicenseRefusal) in
                do throws(AdminRefusal) {
                    try await audit(.keyReplaced, of: "\(tenant.name)/\(replacement.kid)", replacement.details)
                } catch {
                    throw LicenseRefusal(
                        .vendor(code: error.code, status: error.status), reason: error.reason, remedy: error.remedy)
                }
            }
            shared.keyCounts.forget(tenant.name)
            // The keys are in; the entry before says so where this one, with their kids, is not taken.
            try? await audit(.keyImported, of: tenant.name, outcome.details)
            return outcome.response
        }
    }

    fileprivate func exportKeys() async throws -> HTTPResponse {
        let tenant = try tenant()
        let outcome = try await tenant.cpix.exporting(request)
        // Before the keys leave: what cannot be accounted for stays.
        try await audit(.keyExported, of: tenant.name, outcome.details)
        return outcome.response
    }
}

extension CPIXExchange.Outcome {
    /// What the audit says of it.
    fileprivate var details: [String: String] {
        [
            "endpoint": "admin", "count": "\(keys.count)",
            "kids": keys.prefix(100).map { "\($0.kid)" }.joined(separator: " "),
            "recipients": recipients.map(\.hexString).joined(separator: " "),
        ]
    }
}

extension KeyRow {
    /// What is known of a key without its bytes.
    fileprivate var facts: JSONValue {
        .members([
            "kid": .text("\(kid)"), "content": .text(content.written), "track": .text(track.rawValue),
            "trackType": trackType.isEmpty ? nil : .text(trackType), "policies": .texts(policies),
            "scheme": scheme.map { .text($0.rawValue) }, "periods": .array(periods.map { .number(Double($0)) }),
            "created": .date(created), "disabled": .flag(isDisabled), "dataKey": .number(Double(sealed.dataKey)),
        ])
    }
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
