import Foundation
import LatchkeyCore
import LatchkeyDecision
import LatchkeyForms
import LatchkeyHTTP
import LatchkeyLicensing
import LatchkeyVault

extension AdminAPI {
    static let accountRoutes: [Route<Page>] = [
        .page(
            .get, "/tenants/{tenant}/accounts", .viewer, "Accounts by name",
            query: [AdminQuery("prefix", "A prefix of the name."), .after, .limit],
            .json(["accounts": [NamedAccount.form.schema], "next?": .text])
        ) { try await $0.accounts() },
        .page(
            .get, "/tenants/{tenant}/account", .viewer, "One account: sessions, devices, downloads",
            query: [AdminQuery("name", "The account's name.", isRequired: true)], .json(AccountState.form.schema)
        ) { try await $0.account() },
        .page(
            .post, "/tenants/{tenant}/sessions/stop", .operator, "Stop a session",
            body: .body(of: "account", "session"), isAudited: true,
            .done(["stopped": .text], "It is stopped on all nodes.")
        ) { try await $0.stop() },
        .page(
            .post, "/tenants/{tenant}/sessions/stop-all", .operator, "Stop all sessions of an account",
            body: .body(of: "account"), isAudited: true, .json(["stopped": [.text]])
        ) { try await $0.stopAll() },
        .page(
            .post, "/tenants/{tenant}/devices/forget", .operator,
            "Remove a device from the account, which makes room for another",
            body: .body(of: "account", "device"), isAudited: true, .json(["forgotten": .text])
        ) { try await $0.forget() },
    ]
}

extension AdminCall {
    /// A page of accounts by name: `?prefix=…&after=NAME&limit=50`.
    fileprivate func accounts() async throws -> HTTPResponse {
        let (tenant, limit, prefix, after) = (try tenant(), try limit(), try text("prefix"), try text("after"))
        let page = try await shared.operatorAccounts.accounts(
            of: tenant.name, prefix: prefix, after: after.isEmpty ? nil : after, limit: limit)
        return .admin(
            .members([
                "accounts": .array(page.map(NamedAccount.form.json)),
                "next": page.count < limit ? nil : page.last.map { .text($0.name) },
            ]))
    }

    /// One account: `?name=…`, because names may have slashes.
    fileprivate func account() async throws -> HTTPResponse {
        let (tenant, name) = (try tenant(), try text("name"))
        guard !name.isEmpty else { throw AdminRefusal.stated("name", "an account's name") }
        let account = try await shared.operatorAccounts.account(name, of: tenant.name)
        return .admin(AccountState.form.json((name: name, account: account)))
    }

    /// Stops a session: `{"account","session"}`.
    fileprivate func stop() async throws -> HTTPResponse {
        let (tenant, members) = (try tenant(), try members("account", "session"))
        let (account, session) = (members[0], members[1])
        return try await change(.sessionStopped, of: "\(tenant.name)/\(account)", ["session": session]) {
            let isThere = try await shared.operatorAccounts.stopEvenInOutage(
                session: session, of: account, tenant.name, by: "an operator")
            guard isThere != false else { throw AdminRefusal.unknown("session") }
            shared.record?.end(session, of: account, at: tenant.name, .stopped)
            return .done(["stopped": .text(session)], isStored: isThere != nil)
        }
    }

    /// Stops all sessions of an account: `{"account"}`. While the store is out, its sessions are unknown.
    fileprivate func stopAll() async throws -> HTTPResponse {
        let (tenant, account) = (try tenant(), try members("account")[0])
        return try await change(.sessionStopped, of: "\(tenant.name)/\(account)", ["session": "all"]) {
            let stopped = try await shared.operatorAccounts.stopAll(of: account, tenant.name, by: "an operator")
            guard !stopped.isEmpty else { throw AdminRefusal.unknown("session") }
            for session in stopped { shared.record?.end(session, of: account, at: tenant.name, .stopped) }
            return .admin(.object(["stopped": .texts(stopped.sorted())]))
        }
    }

    /// Forgets a device, which makes room for another: `{"account","device"}`.
    fileprivate func forget() async throws -> HTTPResponse {
        let (tenant, members) = (try tenant(), try members("account", "device"))
        let (account, device) = (members[0], members[1])
        return try await change(.deviceForgotten, of: "\(tenant.name)/\(account)", ["device": device]) {
            let isThere = try await shared.operatorAccounts.forget(device: device, of: account, tenant.name)
            guard isThere else { throw AdminRefusal.unknown("device") }
            return .admin(.object(["forgotten": .text(device)]))
        }
    }
}

extension NamedAccount {
    fileprivate static let form = AnswerForm<NamedAccount>([
        .value("name") { $0.name },
        .value("sessions") { one in
            let now = Date()
            return one.account.slots.count { $0.ends > now }
        },
        .value("devices") { $0.account.devices.count }, .value("downloads") { $0.account.downloads.count },
        .value("ends") { $0.end },
    ])
}

extension AccountState {
    fileprivate static let form = AnswerForm<(name: String, account: AccountState)>(
        named: "Account",
        [
            .value("name") { $0.name },
            .list("slots", of: Slot.form) { $0.account.slots.sorted { $0.started > $1.started } },
            .list("stopped", of: StoppedSession.form) { $0.account.stopped.sorted { $0.at > $1.at } },
            .list("devices", of: deviceForm) { $0.account.devices.sorted { $0.value > $1.value } },
            .list("downloads", of: StoredDownload.form) { $0.account.downloads.sorted { $0.content < $1.content } },
        ])

    private static let deviceForm = AnswerForm<(key: String, value: Date)>([
        .value("device") { $0.key }, .value("last") { $0.value },
    ])
}

extension Slot {
    fileprivate static let form = AnswerForm<Slot>([
        .value("session") { $0.session }, .value("device") { $0.device }, .value("label") { $0.label },
        .value("profile") { $0.profile }, .value("drm") { $0.drm.label }, .value("content") { $0.content },
        .value("tracks") { $0.tracks.map(\.rawValue).sorted() }, .value("started") { $0.started },
        .value("ends") { $0.ends },
    ])
}

extension StoppedSession {
    fileprivate static let form = AnswerForm<StoppedSession>([
        .value("session") { $0.session }, .value("by") { $0.by }, .value("at") { $0.at },
    ])
}

extension StoredDownload {
    fileprivate static let form = AnswerForm<StoredDownload>([
        .value("content") { $0.content }, .value("device") { $0.device }, .value("ends") { $0.ends },
    ])
}
