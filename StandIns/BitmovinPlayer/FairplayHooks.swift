import Foundation
import LatchkeyCore
import StandInEngine
import StandInPlayers

/// Gets keys with the player's own HTTP and the app's closures.
final class FairplayHooks: KeyHooks, Sendable {
    private let config: FairplayConfig?
    private let queue: DispatchQueue
    private let stage: StandInStage
    private let identifiers = Locked<[KeyURI: String]>([:])
    private let announcement = Locked<@Sendable (FairplayContentKeyRequest) -> Void>({ _ in })

    init(_ config: FairplayConfig?, on queue: DispatchQueue, _ stage: StandInStage) {
        self.config = config
        self.queue = queue
        self.stage = stage
    }

    /// Sets the receiver of license events.
    func announce(_ body: @escaping @Sendable (FairplayContentKeyRequest) -> Void) {
        announcement.withLock { $0 = body }
    }

    func didTakeKey(for uri: KeyURI, purpose: StandInPurpose) async {
        announcement.withLock { $0 }(FairplayContentKeyRequest(uri))
    }

    func makeSPC(for uri: KeyURI, with exchange: StandInExchange) async throws -> Data {
        let identifier = try await contentIdentifier(for: uri)
        identifiers.withLock { $0[uri] = identifier }
        let certificate = try await certificate()
        do {
            return try exchange.makeSPC(certificate: certificate, contentIdentifier: Data(identifier.utf8))
        } catch {
            throw KeyFailure.spc(error as NSError)
        }
    }

    func answer(_ spc: Data, for uri: KeyURI, with exchange: StandInExchange) async throws -> KeyAnswer {
        KeyAnswer(try await license(for: spc, uri, identifiers.withLock { $0[uri] } ?? uri.raw))
    }

    func contentIdentifier(for uri: KeyURI) async throws -> String {
        try await prepare("prepareContentId", uri.raw, with: \.prepareContentId)
    }

    func certificate() async throws -> Data {
        guard let config, let url = config.certificateUrl else { throw KeyFailure.certificate(nil) }
        let reply: PlayerHTTP.Reply
        do {
            reply = try await PlayerHTTP.send(
                "GET", url.absoluteString, headers: config.certificateRequestHeaders ?? [:])
        } catch {
            throw KeyFailure.certificate(error as NSError)
        }
        guard reply.isSuccess else { throw KeyFailure.certificate(nil, status: reply.status) }
        return try await prepare("prepareCertificate", reply.body, with: \.prepareCertificate)
    }

    func license(for spc: Data, _ uri: KeyURI, _ assetID: String) async throws -> Data {
        guard let config else { throw KeyFailure.nobody("a FairplayConfig") }
        let message = try await call("prepareMessage", config.prepareMessage) { $0(spc, assetID) } ?? spc
        let url = try await prepare(
            "prepareLicenseServerUrl", config.licenseUrl?.absoluteString ?? uri.raw, with: \.prepareLicenseServerUrl)
        let reply: PlayerHTTP.Reply
        do {
            reply = try await PlayerHTTP.send(
                "POST", url, headers: config.licenseRequestHeaders ?? [:], body: message)
        } catch {
            throw KeyFailure.license(error as NSError)
        }
        guard reply.isSuccess else { throw KeyFailure.license(nil, status: reply.status) }
        let license = try await prepare("prepareLicense", reply.body, with: \.prepareLicense)
        guard !license.isEmpty else { throw KeyFailure.license(nil) }
        return license
    }

    /// Changes a value with one of the closures. Without the closure, the value stays the same.
    private func prepare<Value: Sendable>(
        _ name: String, _ value: Value, with closure: (FairplayConfig) -> ((Value) -> Value)?
    ) async throws -> Value {
        guard let config else { throw KeyFailure.nobody("a FairplayConfig") }
        return try await call(name, closure(config)) { $0(value) } ?? value
    }

    private func call<Closure, Value: Sendable>(
        _ name: String, _ closure: Closure?, _ body: @escaping @Sendable (Closure) -> Value
    ) async throws -> Value? {
        // Sound: the real SDK calls the closures on its own threads, too.
        nonisolated(unsafe) let closure = closure
        guard let closure else { return nil }
        nonisolated(unsafe) let present = closure
        return await stage.call(name, on: queue) { body(present) }
    }

    func report(_ failure: KeyFailure) -> any Error {
        let code =
            switch failure {
            case .license(_, status: .some), .license(.some, _): 2306
            case .certificate: 2307
            case .nobody, .uri: 2301
            case .contentIdentifier, .spc: 2302
            case .license, .badLicense, .unusable: 2303
            case .unanswered, .ended, .mediaServicesReset: 2309
            }
        return NSError(domain: "com.bitmovin.player", code: code, failure)
    }
}
