import Foundation
import LatchkeyCore
import LatchkeyDecision
import LatchkeyForms
import LatchkeyHTTP
import LatchkeyLicensing
import LatchkeySystem
package import LatchkeyVault

/// One permitted request to the admin API, with the state that answers it.
struct AdminCall: Sendable {
    let request: HTTPRequest
    let requestID: RequestID
    package let path: PathParameters
    let admin: Operator
    let shared: ServerShared
    /// The configuration in force when the request came.
    let state: ServerState
    /// The configuration in force at the time of the call.
    let current: @Sendable () -> ServerState
    /// The operator at the time of the call, for a continuing answer: an ended session and a removed key are refused.
    let again: @Sendable () async throws(AdminRefusal) -> Operator
    /// Reloads the configuration, and returns the members that wait for a restart.
    let reload: @Sendable () async throws -> [String]

    /// The tenants that the answer may show and change.
    var tenants: TenantScope { admin.tenants }

    /// The tenant of the path, which the router has found to be one of the operator's.
    func tenant() throws(AdminRefusal) -> Tenant {
        guard let tenant = state.tenants[path["tenant"]] else { throw .unknown("tenant") }
        return tenant
    }

    /// A policy that the operator may see: any for those of all tenants, else one that is the policy of a tenant of theirs.
    func policy(named name: String) -> Policy? {
        let isUsed = { state.tenants.contains { tenants.covers($0.key) && $0.value.settings.policy == name } }
        return tenants.isAll || isUsed() ? state.policies[name] : nil
    }

    /// The key of the path.
    func kid() throws(AdminRefusal) -> KeyID {
        guard let kid = KeyID(path["kid"]) else { throw .stated("key's identifier", "a UUID") }
        return kid
    }

    /// A text of the query; empty if it is absent.
    func text(_ name: String) throws(AdminRefusal) -> String {
        try Self.checked(request.queryValue(name) ?? "", name)
    }

    /// A whole number of the query.
    func number(_ name: String) throws(AdminRefusal) -> UInt64? {
        guard let text = request.queryValue(name) else { return nil }
        guard let number = UInt64(text) else { throw .stated(name, "a whole number") }
        return number
    }

    static let usualRows = 50, mostRows = 200

    /// How many rows a page has: `limit`, at most 200. Defaults to 50.
    func limit() throws(AdminRefusal) -> Int {
        Int(min(max(1, try number("limit") ?? UInt64(Self.usualRows)), UInt64(Self.mostRows)))
    }

    /// Members of the body, which is an object of texts.
    func members(_ names: String...) throws(AdminRefusal) -> [String] {
        let value: JSONValue
        do { value = try JSONReader.value(of: request.body) } catch {
            throw AdminRefusal(400, "adminBody", "The body \(error.reason)", "Send a JSON object.")
        }
        var texts: [String] = []
        for name in names {
            guard let text = value[name]?.text, !text.isEmpty else { throw .stated("member \(name)", "a text") }
            texts.append(try Self.checked(text, name))
        }
        return texts
    }

    /// Asks for the audit's entry without the change.
    static let dryRun: HTTPHeaderName = "X-Latchkey-Dry-Run"

    /// Audits a change before it is made. A change without an entry is not made.
    /// - Throws: also the entry itself, for a request that asks only for it: before anything is done.
    package func audit(
        _ action: AuditEvent.Action, of object: String, _ details: [String: String] = [:]
    ) async throws(AdminRefusal) {
        var tenant: String? = path["tenant"].isEmpty ? nil : path["tenant"]
        // An operator of one tenant acts for the tenant, whose audit shows it.
        if tenant == nil { tenant = tenants.only }
        let isDryRun = request.headers[Self.dryRun] != nil
        let event = AuditEvent(
            action, of: object, by: "admin:\(admin.name)", tenant: tenant,
            details: isDryRun ? details : details.merging(["request": requestID.text]) { one, _ in one })
        guard !isDryRun else { throw .preview(event) }
        try await shared.audit(event)
    }

    /// Makes the audited change, and audits its failure. If the audit does not take that, the log has it.
    func change<Value: Sendable>(
        _ action: AuditEvent.Action, of object: String, _ details: [String: String] = [:],
        _ body: () async throws -> Value
    ) async throws -> Value {
        try await audit(action, of: object, details)
        do { return try await body() } catch {
            let code = (error as? any DiagnosableError)?.code ?? "unknown"
            try? await audit(action, of: object, details.merging(["failed": code]) { one, _ in one })
            throw error
        }
    }

    private static func checked(_ text: String, _ name: String) throws(AdminRefusal) -> String {
        guard text.utf8.count <= 512, text.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7f }) else {
            throw .stated(name, "text of at most 512 bytes without control characters")
        }
        return text
    }
}

extension ServerShared {
    /// Writes to the audit.
    package func audit(
        _ action: AuditEvent.Action, of object: String, by actor: String, tenant: String? = nil,
        _ details: [String: String] = [:]
    ) async throws(AdminRefusal) {
        try await audit(AuditEvent(action, of: object, by: actor, tenant: tenant, details: details))
    }

    /// Writes to the audit.
    func audit(_ event: AuditEvent) async throws(AdminRefusal) {
        do throws(StoreError) { _ = try await audit.append(event) } catch {
            log.write(LogEntry(.admin, error))
            throw .unaudited
        }
    }
}

extension TenantScope {
    /// The only tenant; `nil` for several and for the whole server.
    var only: String? {
        guard case .listed(let names) = self, names.count == 1 else { return nil }
        return names.first
    }

    /// The tenants of an operator who is limited to some, for the audit.
    var auditDetails: [String: String] {
        guard case .listed(let names) = self else { return [:] }
        return ["tenants": names.sorted().joined(separator: " ")]
    }
}

extension JSONValue {
    /// A date in UTC with milliseconds.
    static func date(_ date: Date) -> JSONValue {
        .text(date.formatted(Date.ISO8601FormatStyle(includingFractionalSeconds: true)))
    }

    static func number(_ number: Int) -> JSONValue { .number(Double(number)) }
    static func texts(_ texts: some Sequence<String>) -> JSONValue { .array(texts.map { .text($0) }) }

    /// An object without the members that are `nil`.
    static func members(_ members: [String: JSONValue?]) -> JSONValue { .object(members.compactMapValues { $0 }) }
}
