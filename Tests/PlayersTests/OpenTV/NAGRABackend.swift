import Foundation
import LatchkeyCore
import LatchkeyOpenTV
import LatchkeyServices
import LatchkeyVendors

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// An app that makes the requests to its sessions' service itself, here NAGRA's: its part of `customer-ssm`.
final class NAGRABackend: CustomerSessionCallbacks {
    /// The status of the service's refusal; 200 for an incomplete reply.
    struct Refused: Error {
        let status: Int
    }

    /// How often the app wants to be called; like no timeout and no deadline.
    static let period = Duration.seconds(45)

    private let transport = SystemTransport()
    private let settings: [String: String]
    private let contentToken: Secret
    private let sessionToken = Locked<String>("")
    private let types = Locked<[CustomerLicenseType]>([])
    private let beats = AsyncStream.makeStream(of: Void.self)
    private let heartbeatPeriod: Duration

    /// - Parameters:
    ///   - settings: the addresses of the service.
    ///   - contentToken: the token with which the service lets the viewer's sessions begin.
    ///   - heartbeat: how often the app wants to be called.
    init(settings: [String: String], contentToken: Secret, heartbeat: Duration = NAGRABackend.period) {
        (self.settings, self.contentToken, heartbeatPeriod) = (settings, contentToken, heartbeat)
    }

    /// NAGRA's service with sessions that have to be heard from every `period`.
    static func service(
        _ environment: ServiceEnvironment, _ change: (inout NAGRAService) -> Void = { _ in }
    ) -> NAGRAService {
        var service = NAGRAService(environment)
        service.heartbeat = period
        change(&service)
        return service
    }

    /// The heartbeats that the service took.
    var heartbeats: AsyncStream<Void> { beats.stream }

    /// The licenses that the app was asked for.
    var licenseTypes: [CustomerLicenseType] { types.withLock { $0 } }

    func certificate() async throws -> Data {
        try await transport.send(URLRequest(url: address(settings["certificateURL"] ?? "")), bodyLimit: 1 << 16).body
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
        guard let ckc = (reply["CkcMessage"] as? String).flatMap({ Data(base64Encoded: $0) }) else {
            throw Refused(status: 200)
        }
        return CustomerLicense(
            ckc: ckc, heartbeat: Int(heartbeatPeriod.components.seconds),
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
        var request = URLRequest(url: try address(url))
        request.httpMethod = "POST"
        request.httpBody = body
        request.setValue(type, forHTTPHeaderField: "Content-Type")
        request.setValue("application/json", forHTTPHeaderField: "Accept")
        request.setValue(token, forHTTPHeaderField: "nv-authorizations")
        let reply = try await transport.send(request, bodyLimit: 1 << 16)
        guard reply.status == 200 else { throw Refused(status: reply.status) }
        guard let json = try JSONSerialization.jsonObject(with: reply.body) as? [String: Any] else {
            throw Refused(status: 200)
        }
        if let token = json["sessionToken"] as? String { sessionToken.withLock { $0 = token } }
        return json
    }

    private func address(_ text: String) throws -> URL {
        guard let url = URL(string: text) else { throw URLError(.badURL) }
        return url
    }
}

extension NAGRABackend {
    /// An app of a stage's service.
    convenience init(_ stage: PlayerStage) {
        let service = stage.service(for: .nagra)
        self.init(
            settings: service.parameters(at: "\(stage.address)/\(service.identifier)"),
            contentToken: service.issue(nil))
    }
}
