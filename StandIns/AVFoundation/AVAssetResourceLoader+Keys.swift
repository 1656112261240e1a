import Foundation
import LatchkeyCore
import StandInEngine

extension AVAssetResourceLoader {
    /// Requests keys in parallel.
    func provide(_ uris: [KeyURI], destination: StandInExchange.Destination = .device) async throws {
        let times = stage.misbehaves(.repeatsIdentifiers) ? 2 : 1
        // Sound: the mutable state of a loader and its requests is behind locks, here and below.
        nonisolated(unsafe) let loader = self
        try await withThrowingTaskGroup(of: Void.self) { group in
            for uri in uris {
                for _ in 0..<times { group.addTask { try await loader.provide(uri, destination) } }
            }
            try await group.waitForAll()
        }
    }

    /// Starts playback with the keys of the loader.
    func startPlayback(_ uris: [KeyURI]) throws -> [KeyURI: ContentKey] {
        var contentKeys: [KeyURI: ContentKey] = [:]
        for uri in uris {
            guard var key = state.withLock({ $0.keys[uri.raw] }) else {
                throw AVError.because(.contentIsNotAuthorized, "There is no key for \(uri.raw).")
            }
            do { _ = try key.start() } catch { throw AVError.wrapping(error as NSError) }
            let started = key
            state.withLock { $0.keys[uri.raw] = started }
            contentKeys[uri] = key.contentKey
        }
        return contentKeys
    }

    /// Whether the loader has all keys and they are valid.
    func holds(_ uris: [KeyURI]) -> Bool {
        uris.allSatisfy { uri in state.withLock { $0.keys[uri.raw] }?.isUsable == true }
    }

    private func provide(_ uri: KeyURI, _ destination: StandInExchange.Destination) async throws {
        guard let url = URL(string: uri.raw) else {
            throw AVError.because(.serverIncorrectlyConfigured, "\(uri.raw) is no URL.")
        }
        let exchange = StandInExchange(.streaming, for: uri.raw, destination: destination, on: stage)
        let (outcome, information) = hand(AVAssetResourceLoadingRequest(uri, url, of: self, exchange))
        let key = try await outcome.value
        state.withLock { $0.keys[uri.raw] = key }
        renew(uri, url, at: information?.effectiveRenewalDate)
    }

    private func hand(
        _ request: AVAssetResourceLoadingRequest
    ) -> (StandInOutcome<StandInKey>, AVAssetResourceLoadingContentInformationRequest?) {
        stage.keepIfReleasingLate(Only(request))
        state.withLock { state in
            state.handed.removeAll { $0.request == nil }
            state.handed.append(HandedRequest(request: request))
        }
        guard let queue = delegateQueue else {
            request.outcome.settle(.failure(AVError.because(.contentIsNotAuthorized, "Nobody loads the key.")))
            return (request.outcome, nil)
        }
        let drops = stage.misbehaves(.dropsDelegate)
        nonisolated(unsafe) let loader = self
        nonisolated(unsafe) let request = request
        for _ in 0..<(stage.misbehaves(.callsBackTwice) ? 2 : 1) {
            let waits = Locked(false)
            stage.deliver(LoaderCallback.handing(request).rawValue, about: request.uri.raw, on: queue) {
                guard let delegate = loader.delegate else { return CallbackProbe.noteNobody() }
                let answer =
                    if let renewal = request as? AVAssetResourceRenewalRequest {
                        delegate.resourceLoader(loader, shouldWaitForRenewalOfRequestedResource: renewal)
                    } else {
                        delegate.resourceLoader(loader, shouldWaitForLoadingOfRequestedResource: request)
                    }
                waits.withLock { $0 = answer }
                if drops { loader.state.withLock { $0.delegate = nil } }
            } afterwards: { _ in
                guard !waits.withLock({ $0 }) else { return }
                request.outcome.settle(.failure(AVError.because(.contentIsNotAuthorized, "Nobody loads the key.")))
            }
        }
        return (request.outcome, request.contentInformationRequest)
    }

    /// Cancels a request.
    func cancel(_ request: AVAssetResourceLoadingRequest) {
        let isOpen = request.state.withLock { state in
            guard state.phase == .open else { return false }
            state.phase = .cancelling
            return true
        }
        guard isOpen, let queue = delegateQueue else { return }
        nonisolated(unsafe) let loader = self
        nonisolated(unsafe) let request = request
        stage.deliver(LoaderCallback.didCancelLoading.rawValue, about: request.uri.raw, on: queue) {
            guard let delegate = loader.delegate else { return CallbackProbe.noteNobody() }
            delegate.resourceLoader(loader, didCancel: request)
            request.state.withLock { $0.phase = .cancelled }
        } afterwards: { _ in
            request.state.withLock { $0.phase = .cancelled }
            request.outcome.settle(.failure(AVError.because(.operationCancelled, "The loading was cancelled.")))
        }
    }

    /// Requests a key again at its renewal date. Cancelled when the loader is released.
    private func renew(_ uri: KeyURI, _ url: URL, at date: Date?) {
        guard let date else { return }
        let timekeeper = stage.timekeeper
        let due =
            timekeeper.uptime + (Duration(clampingSeconds: max(0, date.timeIntervalSince(timekeeper.date))) ?? .zero)
        let held = HeldLoader(loader: self)
        let renewal = Task {
            do { try await timekeeper.sleep(until: due) } catch { return }
            await held.loader?.renew(uri, url)
        }
        state.withLock { $0.renewals.updateValue(renewal, forKey: uri.raw) }?.cancel()
    }

    func renew(_ uri: KeyURI, _ url: URL) async {
        let exchange = StandInExchange(.renewal, on: stage)
        let (outcome, information) = hand(AVAssetResourceRenewalRequest(uri, url, of: self, exchange))
        // The current key stays in use until its lease ends.
        guard let key = try? await outcome.value else { return }
        state.withLock { $0.keys[uri.raw] = key }
        renew(uri, url, at: information?.effectiveRenewalDate)
    }
}

/// A weak reference to a loader, for its renewals.
// Sound: set once, and a loader's mutable state is behind a lock.
private final class HeldLoader: @unchecked Sendable {
    private(set) weak var loader: AVAssetResourceLoader?

    init(loader: AVAssetResourceLoader) { self.loader = loader }
}

/// The names of the loader delegate's callbacks in the log.
public enum LoaderCallback: String, Sendable, CaseIterable {
    case shouldWaitForLoading
    case shouldWaitForRenewal
    case didCancelLoading

    static func handing(_ request: AVAssetResourceLoadingRequest) -> LoaderCallback {
        request is AVAssetResourceRenewalRequest ? .shouldWaitForRenewal : .shouldWaitForLoading
    }
}
