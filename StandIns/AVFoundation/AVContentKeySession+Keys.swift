import Foundation
import LatchkeyCore
import StandInEngine

extension AVContentKeySession {
    /// Requests, in parallel, the keys of a stream that the session never had.
    ///
    /// A session requests a key once, even if its lease has ended since. Source: `Documentation/Players.md` §3.9b.
    func provide(_ uris: [KeyURI], for asset: AVURLAsset) async throws {
        try await Self.wait(for: asking.withLock { _ in outcomes(of: uris, for: asset) })
    }

    private func outcomes(of uris: [KeyURI], for asset: AVURLAsset) -> [StandInOutcome<Void>] {
        let missing = uris.filter { uri in state.withLock { $0.keys[uri.raw] } == nil }
        let open = state.withLock { Array($0.open.values) }.filter { $0.purpose != .renewal }
        let joined = open.filter { request in missing.contains { $0.raw == request.wish.text } }.map(\.outcome)
        let new = missing.filter { uri in !open.contains { $0.wish.text == uri.raw } }
        return joined + request(new, for: asset, destination: .device)
    }

    /// Requests keys again, for example when playback moves to a receiver.
    func provideAnew(_ uris: [KeyURI], for asset: AVURLAsset, destination: StandInExchange.Destination) async throws {
        try await Self.wait(for: request(uris, for: asset, destination: destination))
    }

    private func request(
        _ uris: [KeyURI], for asset: AVURLAsset, destination: StandInExchange.Destination
    ) -> [StandInOutcome<Void>] {
        let times = stage.misbehaves(.repeatsIdentifiers) ? 2 : 1
        let requests = uris.flatMap { uri in
            (0..<times).map { _ in
                var wish = KeyWish(uri, form: stage.behavior.identifierForm)
                wish.destination = destination
                wish.recipient = asset
                return AVContentKeyRequest(wish, for: .streaming, of: self)
            }
        }
        // The outcomes outlive requests without an owner.
        let outcomes = requests.map(\.outcome)
        send(batch: requests, initializationData: nil)
        return outcomes
    }

    private static func wait(for outcomes: [StandInOutcome<Void>]) async throws {
        for outcome in outcomes { try await outcome.value }
    }

    /// Starts playback with keys that the session holds.
    func startPlayback(_ uris: [KeyURI]) throws -> [KeyURI: ContentKey] {
        var contentKeys: [KeyURI: ContentKey] = [:]
        for uri in uris {
            guard var held = state.withLock({ $0.keys[uri.raw] }) else {
                throw AVError.because(.contentIsNotAuthorized, "The session does not hold \(uri.raw).")
            }
            let replacement: Data?
            do { replacement = try held.key.start() } catch {
                throw AVError.wrapping(error as NSError)
            }
            let started = held
            state.withLock { $0.keys[uri.raw] = started }
            if let replacement {
                let identifier = held.request.wish.identifier ?? uri.raw
                notify(.didUpdatePersistable, about: uri.raw) {
                    $0.contentKeySession(
                        $1, didUpdatePersistableContentKey: replacement, forContentKeyIdentifier: identifier)
                }
            }
            contentKeys[uri] = held.key.contentKey
        }
        return contentKeys
    }

    /// Sets the session's identifier, with the first SPC.
    func beginProtection(_ appIdentifier: Data) {
        state.withLock { state in
            state.appIdentifier = appIdentifier
            guard state.protectionSession == nil else { return }
            state.protectionSession = Data((0..<16).map { _ in UInt8.random(in: .min ... .max) })
        }
    }

    func adopt(_ stage: StandInStage) { state.withLock { $0.stage = stage } }

    /// The media services are reset: the session no longer works.
    func resetMediaServices() {
        let open = state.withLock { state in
            state.condition = .reset
            state.keys = [:]
            return Array(state.open.values)
        }
        for request in open {
            fail(request, AVError.because(.mediaServicesWereReset, "The media services were reset."))
        }
    }
}
