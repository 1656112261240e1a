import Foundation
import LatchkeyCore
import LatchkeyHTTP
import LatchkeyServer
import LatchkeyServices

/// A vendor's service that remembers what it was asked, and what must show nowhere.
final class WatchedService: VendorService {
    private struct Record {
        var endpoints: [ServiceEndpoint] = []
        var secrets: Set<Data> = []
        /// Answers licenses only when it is opened; nil where it is open.
        var gate: [CheckedContinuation<Void, Never>]?
        var watchers: [(count: Int, continuation: CheckedContinuation<Void, Never>)] = []
    }

    private let base: any VendorService
    private let record = Locked(Record())

    init(_ base: any VendorService) { self.base = base }

    var identifier: ServiceIdentifier { base.identifier }
    var environment: ServiceEnvironment { base.environment }
    var redaction: Redaction { base.redaction }

    func endpoint(of request: HTTPRequest) -> ServiceEndpoint? {
        guard let endpoint = base.endpoint(of: request) else { return nil }
        let ready = record.withLock { record in
            record.endpoints.append(endpoint)
            record.secrets.insert(request.body)
            let count = record.endpoints.count { $0 == .license }
            let ready = record.watchers.filter { $0.count <= count }.map(\.continuation)
            record.watchers.removeAll { $0.count <= count }
            return ready
        }
        for watcher in ready { watcher.resume() }
        return endpoint
    }

    func answer(_ call: ServiceCall) async throws(LicenseRefusal) -> HTTPResponse {
        if call.endpoint == .license { await passGate() }
        let response = try await base.answer(call)
        if call.endpoint == .license, let body = response.bytes { record.withLock { _ = $0.secrets.insert(body) } }
        return response
    }

    func reply(to refusal: LicenseRefusal, of call: ServiceCall) -> HTTPResponse { base.reply(to: refusal, of: call) }
    func keyURI(for key: StoredKey, at host: String) -> String { base.keyURI(for: key, at: host) }
    func parameters(at base: String) -> [String: String] { self.base.parameters(at: base) }
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
    /// How many licenses were asked for.
    var licenses: Int { count(of: .license) }

    /// How many requests came to an endpoint.
    func count(of endpoint: ServiceEndpoint) -> Int {
        record.withLock { $0.endpoints.count { $0 == endpoint } }
    }

    /// Waits until so many licenses were asked for.
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

    /// A token that is remembered as a secret: the service's own unless given.
    func issue(_ token: Secret?) -> Secret {
        let token = token ?? base.demoToken()
        record.withLock { _ = $0.secrets.insert(token.revealed) }
        return token
    }

    /// Everything that must show nowhere; short texts would be found by chance.
    var secrets: Set<Data> {
        let keys = environment.authority.keys.keys.map { $0.content.key.revealed }
        return record.withLock { $0.secrets }.union(keys).filter { $0.count >= 12 }
    }
}
