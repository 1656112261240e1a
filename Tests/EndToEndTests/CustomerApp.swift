import Foundation
import Latchkey
import LatchkeyCore
import LatchkeyServices
@_spi(Integrations) import LatchkeyVendors
import Testing

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// An app that sends the requests to its session service itself, here NAGRA's: `customer-ssm`.
final class CustomerApp: CustomerSessionCallbacks {
    /// The refusal of the service.
    struct Refused: Error {
        let status: Int
    }

    private let transport = SystemTransport()
    private let settings: [String: String]
    private let contentToken: Secret
    private let sessionToken = Locked<String>("")
    private let types = Locked<[CustomerLicenseType]>([])

    init(_ stage: SessionStage) {
        settings = stage.live.configured(.nagra).settings
        contentToken = stage.service.issueToken()
    }

    private let beats = AsyncStream.makeStream(of: Void.self)

    /// The heartbeats that the service accepted.
    var heartbeats: AsyncStream<Void> { beats.stream }

    /// The content identifiers of the requested licenses.
    var licenseTypes: [CustomerLicenseType] { types.withLock { $0 } }

    func certificate() async throws -> Data {
        let url = try #require(URL(string: settings["certificateURL"] ?? ""))
        return try await transport.send(URLRequest(url: url), bodyLimit: 1 << 16).body
    }

    func openSession() async throws { _ = try await session("setup", contentToken.revealedText) }

    func closeSession() async throws { _ = try await session("teardown", sessionToken.withLock { $0 }) }

    func license(keySystem: String, payload: Data, type: CustomerLicenseType) async throws -> CustomerLicense {
        types.withLock { $0.append(type) }
        let session = sessionToken.withLock { $0 }
        let isRenewal = type == .renewal
        let reply = try await post(
            (settings["licenseURL"] ?? "") + (isRenewal ? "?renew=true" : ""), payload, "application/octet-stream",
            isRenewal ? session : "\(contentToken.revealedText),\(session)")
        let ckc = try #require((reply["CkcMessage"] as? String).flatMap { Data(base64Encoded: $0) })
        return CustomerLicense(
            ckc: ckc, heartbeat: Int(SessionStage.heartbeat.components.seconds),
            renewType: reply["sessionToken"] == nil ? .heartbeat : .enforced)
    }

    func heartbeat() async throws {
        _ = try await session("heartbeat", sessionToken.withLock { $0 })
        beats.continuation.yield()
    }

    private func session(_ step: String, _ token: String) async throws -> [String: Any] {
        try await post(
            "\(settings["sessionURL"] ?? "")/sessions/\(step)", Data("{}".utf8), "application/json; charset=utf-8",
            token)
    }

    private func post(_ url: String, _ body: Data, _ type: String, _ token: String) async throws -> [String: Any] {
        var request = URLRequest(url: try #require(URL(string: url)))
        request.httpMethod = "POST"
        request.httpBody = body
        request.setValue(type, forHTTPHeaderField: "Content-Type")
        request.setValue("application/json", forHTTPHeaderField: "Accept")
        request.setValue(token, forHTTPHeaderField: "nv-authorizations")
        let reply = try await transport.send(request, bodyLimit: 1 << 16)
        guard reply.status == 200 else { throw Refused(status: reply.status) }
        let json = try #require(try JSONSerialization.jsonObject(with: reply.body) as? [String: Any])
        if let token = json["sessionToken"] as? String { sessionToken.withLock { $0 = token } }
        return json
    }
}
