import Dispatch
import Foundation
import LatchkeyCore
import StandInEngine
import StandInPlayers

/// Gets a key: identifier, certificate and license, each with the integration's hooks and the player's own HTTP.
// Sound: the real SDK calls integrations on any thread, too, and only `known` changes here.
final class IntegrationHooks: KeyHooks, @unchecked Sendable {
    private struct Known {
        let certificate: Data
        let identifier: Data?
    }

    /// The fraction of a lease after which the player renews it.
    private static let renewal = 0.75

    private let integration: (any ContentProtectionIntegration)?
    private let system: KeySystemConfiguration?
    private let stage: StandInStage
    private let queue: DispatchQueue
    private let known = Locked<[KeyURI: Known]>([:])

    init(
        _ integration: (any ContentProtectionIntegration)?, _ system: KeySystemConfiguration?, on queue: DispatchQueue,
        _ stage: StandInStage
    ) {
        self.integration = integration
        self.system = system
        self.queue = queue
        self.stage = stage
    }

    func report(_ failure: KeyFailure) -> any Error { KeyError(failure) }

    func makeSPC(for uri: KeyURI, with exchange: StandInExchange) async throws -> Data {
        let known: Known
        if exchange.purpose == .renewal, let before = self.known.withLock({ $0[uri] }) {
            // A renewal calls only the license hooks.
            known = before
        } else {
            let identifier = try await contentIdentifier(for: uri)
            known = Known(certificate: try await certificate(), identifier: identifier)
            self.known.withLock { $0[uri] = known }
        }
        do {
            return try exchange.makeSPC(certificate: known.certificate, contentIdentifier: known.identifier)
        } catch {
            throw KeyFailure.spc(error as NSError)
        }
    }

    func answer(_ spc: Data, for uri: KeyURI, with exchange: StandInExchange) async throws -> KeyAnswer {
        KeyAnswer(try await license(for: spc, uri), renewal: .ofLease(Self.renewal))
    }

    /// The content identifier; the key's whole URI if no integration extracts one (inferred).
    func contentIdentifier(for uri: KeyURI) async throws -> Data? {
        switch try await ask(
            "onExtractFairplayContentId", uri.raw,
            { integration, hook in
                integration.onExtractFairplayContentId(skdUrl: uri.raw, callback: IdentifierCallback(hook: hook))
            })
        {
        case .respond(let identifier)?: return identifier
        case .error(let error)?: throw KeyFailure.contentIdentifier(error)
        case .request?, nil: break
        }
        let text = await stage.call("extractFairplayContentId", about: uri.raw, on: queue) { [self] () -> String? in
            guard let old = integration as? any SynchronousContentIdentifier else {
                CallbackProbe.noteNobody()
                return nil
            }
            return old.extractFairplayContentId(skdUrl: uri.raw)
        }
        return Data((text.flatMap { $0 } ?? uri.raw).utf8)
    }

    func certificate() async throws -> Data {
        let own = Message(
            url: system?.certificateURL?.absoluteString ?? "", method: "GET", headers: system?.headers ?? [:])
        let chosen = try await ask("onCertificateRequest") { integration, hook in
            integration.onCertificateRequest(
                request: CertificateRequest(url: own.url, method: own.method, headers: own.headers, body: nil),
                callback: CertificateCallback(hook: hook))
        }
        let sent: Message
        switch chosen {
        case .respond(let certificate)?: return certificate ?? Data()
        case .error(let error)?: throw KeyFailure.certificate(error)
        case .request(let request)?: sent = request
        case nil: sent = own
        }
        let reply = try await send(sent) { KeyFailure.certificate($0) }
        let read = try await ask("onCertificateResponse") { integration, hook in
            let response = CertificateResponse(
                certificateRequest: CertificateRequest(
                    url: sent.url, method: sent.method, headers: sent.headers, body: sent.body),
                url: reply.url, status: reply.status, statusText: reply.statusText, headers: reply.headers,
                body: reply.body)
            integration.onCertificateResponse(response: response, callback: CertificateCallback(hook: hook))
        }
        return try accept(read, reply, "certificate") { KeyFailure.certificate($0, status: reply.status) }
    }

    func license(for spc: Data, _ uri: KeyURI) async throws -> Data {
        let own = Message(
            url: system?.licenseAcquisitionURL?.absoluteString ?? uri.raw, method: "POST",
            headers: system?.headers ?? [:], body: spc)
        let chosen = try await ask("onLicenseRequest", uri.raw) { integration, hook in
            let request = LicenseRequest(
                url: own.url, method: own.method, headers: own.headers, body: spc, fairplaySkdUrl: uri.raw,
                useCredentials: false)
            integration.onLicenseRequest(request: request, callback: LicenseCallback(hook: hook))
        }
        let sent: Message
        switch chosen {
        case .respond(let license)?: return license ?? Data()
        case .error(let error)?: throw KeyFailure.license(error)
        case .request(let request)?: sent = request
        case nil: sent = own
        }
        let reply = try await send(sent) { KeyFailure.license($0) }
        let read = try await ask("onLicenseResponse", uri.raw) { integration, hook in
            let response = LicenseResponse(
                licenseRequest: LicenseRequest(
                    url: sent.url, method: sent.method, headers: sent.headers, body: sent.body,
                    fairplaySkdUrl: uri.raw, useCredentials: false),
                url: reply.url, status: reply.status, statusText: reply.statusText, headers: reply.headers,
                body: reply.body)
            integration.onLicenseResponse(response: response, callback: LicenseCallback(hook: hook))
        }
        return try accept(read, reply, "license") { KeyFailure.license($0, status: reply.status) }
    }

    /// The result of a response hook. Only the player's own default checks the status.
    private func accept(
        _ read: HookAnswer?, _ reply: PlayerHTTP.Reply, _ kind: String, _ failure: (NSError?) -> KeyFailure
    ) throws -> Data {
        switch read {
        case .respond(let bytes)?:
            if !reply.isSuccess { stage.log.note(.failedReplyPassedOn, "\(kind), HTTP status \(reply.status)") }
            return bytes ?? Data()
        case .error(let error)?: throw failure(error)
        case .request?, nil:
            guard reply.isSuccess else { throw failure(nil) }
            return reply.body
        }
    }

    private func send(_ message: Message, _ failure: (NSError) -> KeyFailure) async throws -> PlayerHTTP.Reply {
        do {
            return try await PlayerHTTP.send(
                message.method, message.url, headers: message.headers, body: message.body)
        } catch {
            throw failure(error as NSError)
        }
    }

    private func ask(
        _ name: String, _ subject: String? = nil,
        _ body: @escaping @Sendable (any ContentProtectionIntegration, HookCallback) -> Void
    ) async throws -> HookAnswer? {
        guard integration != nil else { return nil }
        return try await stage.ask(name, about: subject, on: queue, repeated: .answeredTwice) { [self] answer in
            guard let integration else { return CallbackProbe.noteNobody() }
            body(integration, HookCallback(answer: answer, log: stage.log))
        }
    }
}

extension PlayerHTTP.Reply {
    fileprivate var statusText: String { HTTPURLResponse.localizedString(forStatusCode: status) }
}
