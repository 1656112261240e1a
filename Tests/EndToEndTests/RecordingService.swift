import Foundation
@_spi(Adapters) import Latchkey
import LatchkeyCore
import LatchkeyDecision
import LatchkeyHTTP
import LatchkeyMedia
import LatchkeyServices
import LatchkeyVault

/// A vendor's service that records its requests, its answers, and the tokens that it issues.
final class RecordingService: VendorService {
    private struct Record {
        var requests: [(endpoint: ServiceEndpoint, request: HTTPRequest)] = []
        var secrets: [Data] = []
    }

    /// The service itself.
    let base: any VendorService
    private let mint: @Sendable () -> Secret
    private let record = Locked(Record())

    /// - Parameters:
    ///   - base: the service.
    ///   - token: makes the app's tokens. Defaults to the service's own for demonstrations.
    init(_ base: any VendorService, token: (@Sendable () -> Secret)? = nil) {
        self.base = base
        mint = token ?? { base.demoToken() }
    }

    var identifier: ServiceIdentifier { base.identifier }
    var environment: ServiceEnvironment { base.environment }
    var redaction: Redaction { base.redaction }
    var routes: [ServiceRoute] { base.routes }

    /// Records the request before any fault, and the body of the service's own answer.
    func respond(to call: ServiceCall) async -> HTTPResponse {
        let secrets = secrets(in: call.request)
        record.withLock { record in
            record.requests.append((call.endpoint, call.request))
            record.secrets += secrets
        }
        return await base.respond(
            to: call.wrapping { call async throws(LicenseRefusal) in
                let response = try await call.answer()
                if call.endpoint != .certificate, let body = response.bytes {
                    self.record.withLock { $0.secrets += [body] + self.secrets(in: body) }
                }
                return response
            })
    }

    func keyURI(for key: StoredKey, at host: String) -> String { base.keyURI(for: key, at: host) }
    func parameters(at base: String) -> [String: String] { self.base.parameters(at: base) }
    func parameters(at base: String, for profile: String) -> [String: String] {
        self.base.parameters(at: base, for: profile)
    }
    func demoToken() -> Secret { base.demoToken() }

    /// Records a token as a secret.
    func issueToken() -> Secret {
        let token = mint()
        record.withLock { $0.secrets.append(token.revealed) }
        return token
    }
}

extension RecordingService {
    func requests(at endpoint: ServiceEndpoint) -> [HTTPRequest] {
        record.withLock { $0.requests.filter { $0.endpoint == endpoint }.map(\.request) }
    }

    /// The endpoints of the requests, in order.
    var endpoints: [ServiceEndpoint] { record.withLock { $0.requests.map(\.endpoint) } }

    /// The number of requests to each endpoint.
    var requestCounts: [ServiceEndpoint: Int] {
        record.withLock { $0.requests.reduce(into: [:]) { $0[$1.endpoint, default: 0] += 1 } }
    }

    /// Everything that must not become visible: tokens, license requests and licenses as they were on the wire, content keys.
    var secrets: [Data] {
        let keys = environment.authority.keys.keys.map { $0.content.key.revealed }
        return Array(Set(record.withLock { $0.secrets } + keys)).filter { $0.count >= Self.shortest }
    }

    /// Shorter texts, such as an empty token or body, would be found by coincidence.
    private static let shortest = 12

    /// The values that the vendor's redaction calls secret, and the body unless it is `{}`.
    private func secrets(in request: HTTPRequest) -> [Data] {
        let headers = request.headers.fields.filter { redaction.isSecret(header: $0.name.rawValue) }.map(\.value)
        let query = request.queryItems.filter { redaction.isSecret(queryItem: $0.name) }.compactMap(\.value)
        return (headers + query).map { Data($0.utf8) } + [request.body] + secrets(in: request.body)
    }

    /// The secret members of a JSON body, as text and decoded from base64.
    private func secrets(in body: Data) -> [Data] {
        guard let json = try? JSONSerialization.jsonObject(with: body) else { return [] }
        return texts(in: json, isSecret: false).flatMap { text in
            [Data(text.utf8)] + [Data(base64Encoded: text)].compactMap { $0 }
        }
    }

    private func texts(in json: Any, isSecret: Bool) -> [String] {
        switch json {
        case let text as String:
            // An issued address contains its token.
            isSecret ? [text] : text.split(separator: "oken=").dropFirst().map(String.init)
        case let list as [Any]: list.flatMap { texts(in: $0, isSecret: isSecret) }
        case let object as [String: Any]:
            object.flatMap { texts(in: $0.value, isSecret: isSecret || redaction.isSecret(field: $0.key)) }
        default: []
        }
    }
}
