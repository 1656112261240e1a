import Foundation
import LatchkeyCore
import LatchkeyHTTP
import LatchkeyServer
import LatchkeyServices

/// A vendor's service that remembers what it was asked, what it answered, and the tokens that it gave out.
final class RecordingService: VendorService {
    private struct Record {
        var requests: [(endpoint: ServiceEndpoint, request: HTTPRequest)] = []
        var licenses: [Data] = []
        var tokens: [Secret] = []
    }

    private let base: any VendorService
    private let record = Locked(Record())

    init(_ base: any VendorService) { self.base = base }

    var identifier: ServiceIdentifier { base.identifier }
    var environment: ServiceEnvironment { base.environment }
    var redaction: Redaction { base.redaction }

    /// Called once for each request below the service's name, before any fault.
    func endpoint(of request: HTTPRequest) -> ServiceEndpoint? {
        guard let endpoint = base.endpoint(of: request) else { return nil }
        record.withLock { $0.requests.append((endpoint, request)) }
        return endpoint
    }

    func answer(_ call: ServiceCall) async throws(LicenseRefusal) -> HTTPResponse {
        let response = try await base.answer(call)
        if call.endpoint == .license { record.withLock { $0.licenses.append(response.bytes ?? Data()) } }
        return response
    }

    func reply(to refusal: LicenseRefusal, of call: ServiceCall) -> HTTPResponse { base.reply(to: refusal, of: call) }
    func keyURI(for key: StoredKey, at host: String) -> String { base.keyURI(for: key, at: host) }
    func parameters(at base: String) -> [String: String] { self.base.parameters(at: base) }
    func demoToken() -> Secret { base.demoToken() }

    /// A token that is remembered as a secret.
    func issueToken() -> Secret {
        let token = base.demoToken()
        record.withLock { $0.tokens.append(token) }
        return token
    }
}

extension RecordingService {
    func requests(at endpoint: ServiceEndpoint) -> [HTTPRequest] {
        record.withLock { $0.requests.filter { $0.endpoint == endpoint }.map(\.request) }
    }

    /// Everything that must show nowhere: tokens, SPCs, CKCs, content keys.
    var secrets: [Data] {
        let tokens = record.withLock { $0.tokens.map(\.revealed) }
        let spcs = requests(at: .license).compactMap { Self.spc(in: $0.body) }
        let keys = environment.authority.keys.keys.map { $0.content.key.revealed }
        return tokens + spcs + record.withLock { $0.licenses } + keys
    }

    /// The SPC of a raw body, or of JSON.
    private static func spc(in body: Data) -> Data? {
        guard body.first == UInt8(ascii: "{") else { return body.isEmpty ? nil : body }
        let json = try? JSONSerialization.jsonObject(with: body) as? [String: Any]
        return (json?["payload"] as? String).flatMap { Data(base64Encoded: $0) }
    }
}
