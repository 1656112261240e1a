import Foundation
import LatchkeyCore
import LatchkeyDecision
import LatchkeyHTTP
import LatchkeyMedia
import LatchkeyServices
import LatchkeyVault

/// A vendor's service that remembers its requests, and the secrets that must show nowhere.
final class WatchedService: VendorService {
    private struct Record {
        var endpoints: [ServiceEndpoint] = []
        var secrets: Set<Data> = []
        /// The license requests that wait until the gate opens; `nil` if it is open.
        var gate: [CheckedContinuation<Void, Never>]?
        /// Whether connections break off instead of a license.
        var isLost = false
        /// How many requests it is about to answer.
        var open = 0
        var watchers: [(count: Int, continuation: CheckedContinuation<Void, Never>)] = []
    }

    private let base: any VendorService
    private let record = Locked(Record())

    init(_ base: any VendorService) { self.base = base }

    var identifier: ServiceIdentifier { base.identifier }
    var environment: ServiceEnvironment { base.environment }
    var redaction: Redaction { base.redaction }

    var routes: [ServiceRoute] { base.routes }

    func respond(to call: ServiceCall) async -> HTTPResponse {
        note(call)
        defer { record.withLock { $0.open -= 1 } }
        return await base.respond(
            to: call.wrapping { call async throws(LicenseRefusal) in
                guard call.endpoint == .license else { return try await call.answer() }
                await self.passGate()
                guard !self.record.withLock({ $0.isLost }) else { return .reset }
                let response = try await call.answer()
                if let body = response.bytes { self.record.withLock { _ = $0.secrets.insert(body) } }
                return response
            })
    }

    private func note(_ call: ServiceCall) {
        let ready = record.withLock { record in
            record.open += 1
            record.endpoints.append(call.endpoint)
            record.secrets.insert(call.request.body)
            let count = record.endpoints.count { $0 == .license }
            let ready = record.watchers.filter { $0.count <= count }.map(\.continuation)
            record.watchers.removeAll { $0.count <= count }
            return ready
        }
        for watcher in ready { watcher.resume() }
    }

    func keyURI(for key: StoredKey, at host: String) -> String { base.keyURI(for: key, at: host) }
    func parameters(at base: String) -> [String: String] { self.base.parameters(at: base) }
    func parameters(at base: String, for profile: String) -> [String: String] {
        self.base.parameters(at: base, for: profile)
    }
    func demoToken() -> Secret { base.demoToken() }

    private func passGate() async {
        await withCheckedContinuation { continuation in
            let isOpen = record.withLock { record in
                record.gate?.append(continuation)
                return record.gate == nil
            }
            if isOpen { continuation.resume() }
        }
    }
}

extension WatchedService {
    var isAnswering: Bool { record.withLock { $0.open > 0 } }

    /// How many licenses were asked for.
    var licenses: Int { count(of: .license) }

    /// How many requests came to an endpoint.
    func count(of endpoint: ServiceEndpoint) -> Int {
        record.withLock { $0.endpoints.count { $0 == endpoint } }
    }

    /// Waits until a number of licenses have been requested.
    func untilLicenses(_ count: Int) async {
        await withCheckedContinuation { continuation in
            let isThere = record.withLock { record in
                let isThere = record.endpoints.count { $0 == .license } >= count
                if !isThere { record.watchers.append((count, continuation)) }
                return isThere
            }
            if isThere { continuation.resume() }
        }
    }

    /// Lets license requests wait.
    func hold() { record.withLock { $0.gate = [] } }

    /// Answers the license requests that wait, and all later ones.
    func open() {
        let waiting = record.withLock { record in
            defer { record.gate = nil }
            return record.gate ?? []
        }
        for continuation in waiting { continuation.resume() }
    }

    /// Breaks off the connections of the license requests that wait, and of all later ones.
    func lose() {
        record.withLock { $0.isLost = true }
        open()
    }

    /// Remembers a token as a secret. Defaults to the service's own token.
    func issue(_ token: Secret?) -> Secret {
        let token = token ?? base.demoToken()
        record.withLock { _ = $0.secrets.insert(token.revealed) }
        return token
    }

    /// A token for an app that keeps no sessions.
    func issueWithoutSession() -> Secret {
        let rights = #"{"contentRights":[{"contentId":"latchkey-demo"}]}"#
        return issue((base as? NAGRAService)?.contentToken(claims: rights))
    }

    /// Everything that must not show. Short values are left out, because they would be found by chance.
    var secrets: Set<Data> {
        let keys = environment.authority.keys.keys.map { $0.content.key.revealed }
        return record.withLock { $0.secrets }.union(keys).filter { $0.count >= 12 }
    }
}
