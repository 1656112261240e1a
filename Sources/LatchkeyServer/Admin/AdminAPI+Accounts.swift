import Foundation
import LatchkeyCore
import LatchkeyForms
import LatchkeyHTTP
import LatchkeyLicensing
import LatchkeyOperation
import LatchkeyPolicy
import LatchkeyRecord

extension AdminAPI {
    static let accountRoutes: [Route<Page>] = [
        Route([.get], "/admin/v1/tenants/{tenant}/accounts", Page(.viewer, .tenant) { try await $0.accounts() }),
        Route([.get], "/admin/v1/tenants/{tenant}/account", Page(.viewer, .tenant) { try await $0.account() }),
        Route([.post], "/admin/v1/tenants/{tenant}/sessions/stop", Page(.operator, .tenant) { try await $0.stop() }),
        Route(
            [.post], "/admin/v1/tenants/{tenant}/sessions/stop-all", Page(.operator, .tenant) { try await $0.stopAll() }
        ),
        Route([.post], "/admin/v1/tenants/{tenant}/devices/forget", Page(.operator, .tenant) { try await $0.forget() }),
    ]
}

extension AdminCall {
    /// A page of accounts by name: `?prefix=…&after=NAME&limit=50`.
    fileprivate func accounts() async throws -> HTTPResponse {
        let (tenant, limit, prefix, after) = (try tenant(), try limit(), try text("prefix"), try text("after"))
        let page = try await shared.operatorAccounts.accounts(
            of: tenant.name, prefix: prefix, after: after.isEmpty ? nil : after, limit: limit)
        let now = Date()
        return .admin(
            .members([
                "accounts": .array(
                    page.map { one in
                        .object([
                            "name": .text(one.name), "sessions": .number(one.account.slots.count { $0.ends > now }),
                            "devices": .number(one.account.devices.count),
                            "downloads": .number(one.account.downloads.count), "ends": .date(one.end),
                        ])
                    }),
                "next": page.count < limit ? nil : page.last.map { .text($0.name) },
            ]))
    }

    /// One account: `?name=…`, because names may have slashes.
    fileprivate func account() async throws -> HTTPResponse {
        let (tenant, name) = (try tenant(), try text("name"))
        guard !name.isEmpty else { throw AdminRefusal.stated("name", "an account's name") }
        let account = try await shared.operatorAccounts.account(name, of: tenant.name)
        return .admin(
            .object([
                "name": .text(name), "slots": .array(account.slots.sorted { $0.started > $1.started }.map(\.json)),
                "stopped": .array(
                    account.stopped.sorted { $0.at > $1.at }.map {
                        .members(["session": .text($0.session), "by": $0.by.map { .text($0) }, "at": .date($0.at)])
                    }),
                "devices": .array(
                    account.devices.sorted { $0.value > $1.value }.map {
                        .object(["device": .text($0.key), "last": .date($0.value)])
                    }),
                "downloads": .array(
                    account.downloads.sorted { $0.content < $1.content }.map {
                        .members([
                            "content": .text($0.content), "device": .text($0.device), "ends": $0.ends.map { .date($0) },
                        ])
                    }),
            ]))
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

    /// Stops all sessions of an account: `{"account"}`. While the store is out nobody knows which they are.
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

extension Slot {
    fileprivate var json: JSONValue {
        .members([
            "session": .text(session), "device": device.map { .text($0) }, "label": label.map { .text($0) },
            "profile": profile.map { .text($0) }, "drm": .text(drm.label), "content": .text(content),
            "tracks": .texts(tracks.map(\.rawValue).sorted()), "started": .date(started), "ends": .date(ends),
        ])
    }
}
