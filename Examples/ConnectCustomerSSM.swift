#if canImport(OPYSDKFPS)
    public import Foundation
    @_spi(Integrations) public import Latchkey
    public import OPYSDKFPS

    #if canImport(FoundationNetworking)
        import FoundationNetworking
    #endif

    /// NAGRA CONNECT plays a stream whose sessions and licenses come from the app's own service: `customer-ssm`.
    @MainActor
    public final class ConnectCustomerSSM {
        public private(set) var player: OTVAVPlayer?
        private let service: SessionService
        private let onFailure: @Sendable (KeyFailure) -> Void

        /// - Parameters:
        ///   - service: The app's own session service.
        ///   - onFailure: Receives the reason that a license was not delivered or a heartbeat failed; playback should stop then.
        public init(_ service: SessionService, onFailure: @escaping @Sendable (KeyFailure) -> Void) {
            OTVSDK.load()
            self.service = service
            self.onFailure = onFailure
        }

        public func play(_ content: URL) async throws {
            let delegate = OTVCustomerSSMDelegate(certificate: try await service.certificate())
            delegate.setCallback(OpenTVCustomerKeys(service, onFailure: onFailure))
            try await service.open()
            OTVDRMManager.shared.setLicenseDelegate(delegate)
            player = OTVAVPlayer(url: content)
            player?.play()
        }

        public func stop() async throws {
            player = nil
            try await service.close()
        }
    }

    /// An operator's own session service, here behind a gateway with NAGRA's protocol.
    public actor SessionService: CustomerSessionCallbacks {
        private let certificateURL: URL
        private let licenseURL: URL
        private let sessionURL: URL
        private let contentToken: String
        private let transport = SystemTransport()
        /// The reasons for refusals in the gateway's replies, here in NAGRA's form, whose services have their own codes;
        /// `onFailure` receives them.
        private let licenseRefusals, sessionRefusals: ErrorRules
        private var session: (token: String, heartbeat: Int)?

        public init(certificate: URL, license: URL, sessions: URL, contentToken: String) {
            certificateURL = certificate
            licenseURL = license
            sessionURL = sessions
            self.contentToken = contentToken
            let nagra = ConfiguredVendor.nagra(certificate: certificate, license: license).profile
            (licenseRefusals, sessionRefusals) = (nagra.errors, nagra.sessionErrors)
        }

        public func certificate() async throws -> Data {
            try await send(URLRequest(url: certificateURL), licenseRefusals)
        }

        public func open() async throws { try await ask("setup", contentToken) }
        public func heartbeat() async throws { try await ask("heartbeat", session?.token ?? "") }
        public func close() async throws { try await ask("teardown", session?.token ?? "") }

        public func license(
            keySystem: String, payload: Data, type: CustomerLicenseType
        ) async throws -> CustomerLicense {
            let tokens = [type == .renewal ? nil : contentToken, session?.token].compactMap(\.self)
            let renewal = licenseURL.appending(queryItems: [URLQueryItem(name: "renew", value: "true")])
            let reply = try await post(
                payload, "application/octet-stream", to: type == .renewal ? renewal : licenseURL,
                tokens.joined(separator: ","), licenseRefusals)
            guard let ckc = (reply["CkcMessage"] as? String).flatMap({ Data(base64Encoded: $0) }) else {
                throw URLError(.cannotParseResponse)
            }
            // If the licenses carry the session, they are renewed; otherwise heartbeats are sent.
            let isEnforced = noteSession(in: reply)
            return CustomerLicense(
                ckc: ckc, heartbeat: session?.heartbeat ?? 0, renewType: isEnforced ? .enforced : .heartbeat)
        }

        private func ask(_ step: String, _ token: String) async throws {
            let reply = try await post(
                Data("{}".utf8), "application/json", to: sessionURL.appending(path: "sessions/\(step)"), token,
                sessionRefusals)
            noteSession(in: reply)
        }

        /// - Returns: Whether there is a new session token.
        @discardableResult
        private func noteSession(in reply: [String: Any]) -> Bool {
            guard let token = reply["sessionToken"] as? String else { return false }
            session = (token, reply["heartbeat"] as? Int ?? session?.heartbeat ?? 0)
            return true
        }

        private func post(
            _ body: Data, _ type: String, to url: URL, _ token: String, _ refusals: ErrorRules
        ) async throws -> [String: Any] {
            var request = URLRequest(url: url)
            request.httpMethod = "POST"
            request.httpBody = body
            request.setValue(type, forHTTPHeaderField: "Content-Type")
            request.setValue(token, forHTTPHeaderField: "nv-authorizations")
            return try JSONSerialization.jsonObject(with: try await send(request, refusals)) as? [String: Any] ?? [:]
        }

        private func send(_ request: URLRequest, _ refusals: ErrorRules) async throws -> Data {
            let reply = try await transport.send(request, bodyLimit: 1 << 20)
            try refusals.check(reply)
            return reply.body
        }
    }
#endif
