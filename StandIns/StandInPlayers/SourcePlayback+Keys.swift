import Foundation
public import LatchkeyCore
import LatchkeyDevice
import LatchkeyPlayback
import StandInEngine

extension SourcePlayback {
    /// How many times a player retries a key whose license it rejected.
    private static let retryLimit = 3

    /// Moves playback to a receiver and requests all keys again.
    /// - Throws: the player's error.
    public func moveToAirPlay() async throws {
        do { try await provide(state.withLock { $0.uris }, destination: .airPlay) } catch { throw reported(error) }
    }

    /// Renews a key now.
    /// - Throws: the player's error.
    public func renew(_ uri: KeyURI) async throws {
        do {
            guard !isOver else { throw KeyFailure.ended }
            try await fetch(uri, .renewal, .device)
        } catch {
            let error = reported(error)
            state.withLock { $0.failedRenewals.append(error) }
            throw error
        }
    }

    /// Requests keys in parallel.
    func provide(_ uris: [KeyURI], destination: StandInExchange.Destination) async throws {
        let times = stage.misbehaves(.repeatsIdentifiers) ? 2 : 1
        let wanted = uris.flatMap { Array(repeating: $0, count: times) }
        if stage.misbehaves(.reordersKeys) { return try await provideInReverse(wanted, destination) }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for uri in wanted { group.addTask { try await self.fetch(uri, .streaming, destination) } }
            try await group.waitForAll()
        }
    }

    private func provideInReverse(_ uris: [KeyURI], _ destination: StandInExchange.Destination) async throws {
        var asked: [(KeyURI, StandInExchange, Data)] = []
        for uri in uris {
            let exchange = StandInExchange(.streaming, destination: destination, on: stage)
            asked.append((uri, exchange, try await makeSPC(uri, exchange)))
        }
        for (uri, exchange, spc) in asked.reversed() { try await take(spc, uri, exchange) }
    }

    private func fetch(
        _ uri: KeyURI, _ purpose: StandInPurpose, _ destination: StandInExchange.Destination
    ) async throws {
        if purpose == .streaming, destination == .device, try await useStoredKey(for: uri) { return }
        for attempt in 0... {
            let exchange = StandInExchange(purpose, destination: destination, on: stage)
            let spc = try await makeSPC(uri, exchange)
            do {
                return try await take(spc, uri, exchange)
            } catch let turndown as Turndown {
                guard attempt < Self.retryLimit else { throw KeyFailure.badLicense(turndown.error) }
            }
        }
    }

    private func makeSPC(_ uri: KeyURI, _ exchange: StandInExchange) async throws -> Data {
        let spc = try await hooks.makeSPC(for: uri, with: exchange)
        return stage.misbehaves(.completesWithNothing) ? Data() : spc
    }

    private func take(_ spc: Data, _ uri: KeyURI, _ exchange: StandInExchange) async throws {
        // The app is asked nevertheless, and its answer is ignored.
        if stage.misbehaves(.cancelsMidway) { end() }
        let answer = try await hooks.answer(spc, for: uri, with: exchange)
        guard !isOver else { throw KeyFailure.ended }
        let key: StandInKey
        do { key = try exchange.open(answer.bytes) } catch let turndown as Turndown { throw turndown } catch {
            throw KeyFailure.badLicense(error as NSError)
        }
        state.withLock { $0.keys[uri] = key }
        schedule(answer.renewal, uri, lease: key.device.terms.lease)
        await hooks.didTakeKey(for: uri, purpose: exchange.purpose)
    }

    private func useStoredKey(for uri: KeyURI) async throws -> Bool {
        guard let stored = await hooks.storedKey(for: uri) else { return false }
        guard let key = try? StandInExchange(.persistable, for: uri.raw, on: stage).open(stored) else {
            await hooks.rejectStoredKey(for: uri)
            return false
        }
        state.withLock { $0.keys[uri] = key }
        return true
    }

    /// Starts playback with the keys.
    func startPlayback(_ uris: [KeyURI]) async throws -> [KeyURI: ContentKey] {
        var contentKeys: [KeyURI: ContentKey] = [:]
        for uri in uris {
            guard var key = state.withLock({ $0.keys[uri] }) else { throw KeyFailure.ended }
            let replacement: Data?
            do { replacement = try key.start() } catch { throw reported(KeyFailure.unusable(error as NSError)) }
            let started = key
            state.withLock { $0.keys[uri] = started }
            if let replacement { await hooks.replaceStoredKey(replacement, for: uri) }
            contentKeys[uri] = key.contentKey
        }
        return contentKeys
    }

    private func schedule(_ renewal: KeyAnswer.Renewal, _ uri: KeyURI, lease: Duration?) {
        let lead: Duration
        switch renewal {
        case .never: return
        case .after(let time): lead = max(.zero, time)
        case .ofLease(let part):
            guard let lease else { return }
            lead = lease * part
        }
        let timekeeper = stage.timekeeper
        let due = timekeeper.uptime + lead
        let alarm = Task { [weak self] in
            do { try await timekeeper.sleep(until: due) } catch { return }
            // A separate task, because the next alarm replaces and cancels this one.
            Task { try? await self?.renew(uri) }
        }
        state.withLock { $0.renewals.updateValue(alarm, forKey: uri) }?.cancel()
    }

    private func reported(_ error: any Error) -> any Error { (error as? KeyFailure).map(hooks.report) ?? error }

    private var isOver: Bool { state.withLock { $0.isOver } }
}
