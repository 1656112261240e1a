package import Foundation
package import LatchkeyCore
package import LatchkeySystem

/// Keeps the key set in force: from a file, which is read on request, or from an address, which is fetched in the background.
///
/// A set that cannot be fetched or used, or has no key, does not replace a good one; the error is reported. Only one fetch runs at a time.
/// Tokens whose key is known never wait for one.
///
/// Source: `Documentation/LicenseServer.md` §5.2.
package final class KeySetSource: Sendable {
    /// The outcome of an attempt to load the set.
    package enum Event: Sendable, Equatable {
        /// A set with this number of keys is in force; others were refused. News are the refused keys that the former set did not refuse.
        case loaded(keys: Int, refused: [KeySetError], news: [KeySetError])
        /// The set in force stays; it may be empty, if there never was a good one.
        case kept(KeySetError)
    }

    /// The state of a set, for a check, a metric and a console.
    package struct Standing: Sendable, Equatable {
        /// How many keys verify tokens now.
        package internal(set) var keys = 0
        /// The keys of the same set that do not, each with its place and its reason.
        package internal(set) var refused: [KeySetError] = []
        /// Why the last attempt to load the set failed; `nil` if it did not, or if there was none.
        package internal(set) var failure: KeySetError?

        package init(keys: Int = 0, refused: [KeySetError] = [], failure: KeySetError? = nil) {
            (self.keys, self.refused, self.failure) = (keys, refused, failure)
        }

        /// Problems that need attention, one sentence each with its remedy.
        package var problems: [String] {
            [failure].compactMap { $0.map { "\($0.reason) \($0.remedy)" } }
                + refused.prefix(8).map { "\($0.reason) \($0.remedy)" }
        }
    }

    /// How long after a fetch for an unknown key the next one may begin. Twice as long each time while such tokens keep coming, and never
    /// so long that one with a made-up key keeps those of a new key out.
    package static let unknownKeyWaits = Duration.seconds(1)...Duration.seconds(5)
    /// How long a fetch may take.
    package static let fetchTimeout = Duration.seconds(10)

    private struct State {
        var keys = KeySet.empty
        var failure: KeySetError?
        var loading: Promise<Void, any Error>?
        /// When a token with an unknown key last made it fetch, and how long the next one waits from then on.
        var lastUnknownKey: (time: Duration, wait: Duration)?
        /// The tokens verified with the set in force.
        var verified = VerifiedTokens()
        /// The number of the set in force.
        var number = 0

        mutating func put(_ keys: KeySet) {
            (self.keys, verified) = (keys, VerifiedTokens())
            number += 1
        }
    }

    private let state = Locked(State())
    private let extra: [TokenKey]
    private let algorithms: [TokenAlgorithm]
    private let isRemote: Bool
    private let timekeeper: any Timekeeper
    private let report: @Sendable (Event) -> Void
    private let guarded: EngineGuard
    private let fetch: @Sendable () async throws -> Data

    private init(
        extra: [TokenKey], _ algorithms: [TokenAlgorithm], isRemote: Bool, health: EngineHealth?,
        timekeeper: any Timekeeper,
        report: @escaping @Sendable (Event) -> Void, fetch: @escaping @Sendable () async throws -> Data
    ) {
        self.extra = extra
        self.algorithms = algorithms
        self.isRemote = isRemote
        // Without a limit of the guard's, a fetch ends with the configuration that began it.
        guarded = EngineGuard(health ?? EngineHealth("keySet", timekeeper: timekeeper))
        self.timekeeper = timekeeper
        self.report = report
        self.fetch = fetch
    }

    /// A set in a file. Nothing is read before ``reload()``.
    /// - Parameters:
    ///   - file: a JSON web key set, or public keys in PEM; at most 64 KiB.
    ///   - extra: further keys, such as those from PEM files. Defaults to none.
    ///   - algorithms: the tenant's accepted algorithms; empty means all.
    ///   - threads: where the file is read. Defaults to new threads.
    ///   - health: notes whether the set can be loaded. Defaults to nothing.
    ///   - timekeeper: the time. Defaults to the machine's.
    ///   - report: called with each attempt's result, by the task that loads.
    package static func file(
        _ file: URL, beside extra: [TokenKey] = [], algorithms: [TokenAlgorithm] = [],
        on threads: FileThreads = FileThreads(), health: EngineHealth? = nil,
        timekeeper: any Timekeeper = SystemTimekeeper(),
        report: @escaping @Sendable (Event) -> Void
    ) -> KeySetSource {
        let path = file.path
        return KeySetSource(
            extra: extra, algorithms, isRemote: false, health: health, timekeeper: timekeeper, report: report
        ) {
            do {
                return try await threads.run(path) { try PlainFile.read(path, limit: KeySet.limit) }
            } catch let error as FileError {
                switch error.code {
                case "fileTooLarge": throw KeySetError.tooLong(KeySet.limit + 1)
                case "fileHangs": throw KeySetError.unreachable(error.reason)
                default: throw KeySetError.unreachable("The file \(path.onOneLine) cannot be read: \(error.what).")
                }
            }
        }
    }

    /// A set at an address. Nothing is fetched before ``reload()`` or ``keepFresh(every:)``.
    /// - Parameters:
    ///   - extra: further keys, such as those from PEM files. Defaults to none.
    ///   - algorithms: the tenant's accepted algorithms; empty means all.
    ///   - health: notes whether the set can be loaded. Defaults to nothing.
    ///   - timekeeper: the time. Defaults to the machine's.
    ///   - report: called with each attempt's result, by the task that loads.
    ///   - fetch: gets the document over TLS. It should stop at 64 KiB; it is given 10 s. Its error is reported if it is a `KeySetError` or
    ///     a `TransportError`.
    package static func fetched(
        beside extra: [TokenKey] = [], algorithms: [TokenAlgorithm] = [], health: EngineHealth? = nil,
        timekeeper: any Timekeeper = SystemTimekeeper(), report: @escaping @Sendable (Event) -> Void,
        fetch: @escaping @Sendable () async throws -> Data
    ) -> KeySetSource {
        KeySetSource(
            extra: extra, algorithms, isRemote: true, health: health, timekeeper: timekeeper, report: report,
            fetch: fetch)
    }

    /// The set in force; empty until the first good one.
    package var keys: KeySet { state.withLock { $0.keys } }

    /// Takes over the set of another source of the same address, because the configuration was reloaded, until there is a newer one.
    package func takeOver(_ former: KeySetSource) {
        let keys = former.keys
        guard isRemote else { return }
        state.withLock { state in
            guard state.keys.keys.isEmpty else { return }
            state.put(keys)
        }
    }

    /// The state of the set.
    package var standing: Standing {
        state.withLock { Standing(keys: $0.keys.keys.count, refused: $0.keys.refused, failure: $0.failure) }
    }

    /// Loads the set, or waits for a load that is already running.
    /// - Throws: `KeySetError`, which is reported too; `CancellationError` if the waiting task is cancelled, and the loading continues.
    package func reload() async throws {
        let (promise, isNew) = state.withLock { state in
            if let loading = state.loading { return (loading, false) }
            let promise = Promise<Void, any Error>()
            state.loading = promise
            return (promise, true)
        }
        if isNew { startTask { promise.resolve(await Result { try await self.load() }) } }
        try await promise.value
    }

    /// Loads the set again and again, until the task is cancelled.
    /// - Parameter interval: the time between two attempts.
    package func keepFresh(every interval: Duration) async {
        while !Task.isCancelled {
            try? await reload()
            guard (try? await timekeeper.sleep(for: interval)) != nil else { return }
        }
    }

    /// Verifies a token, and fetches the set if the token's key is not in it: 14 times a minute at most, and never from a file.
    ///
    /// A token that was verified by the same rules and the same set is good until its end, and costs a digest.
    ///
    /// Only a token with an unknown key waits, for a fetch that it caused or that is running.
    /// - Throws: as `TokenVerifier.verified(_:with:at:)`.
    package func verified(
        _ text: String, by verifier: TokenVerifier, at date: Date
    ) async throws(TokenError) -> VerifiedToken {
        if let token = try verifiedAtOnce(text, by: verifier, at: date) { return token }
        return try await verifiedAfterFetch(text, by: verifier, at: date)
    }

    /// Verifies a token by the set as it is.
    /// - Returns: `nil` where the set has to be fetched first: by `verifiedAfterFetch`, for which there is leave now.
    /// - Throws: as `TokenVerifier.verified(_:with:at:)`.
    package func verifiedAtOnce(
        _ text: String, by verifier: TokenVerifier, at date: Date
    ) throws(TokenError) -> VerifiedToken? {
        let name = VerifiedTokens.Name(text, verifier.rules)
        let (keys, number, known) = state.withLock { state in
            (state.keys, state.number, name.flatMap { state.verified.token($0, at: date) })
        }
        if let known { return known }
        do {
            let token = try verifier.verified(text, with: keys, at: date)
            if let name {
                state.withLock { state in
                    // Another set may be in force by now.
                    if state.number == number { state.verified.remember(token, as: name, at: date) }
                }
            }
            return token
        } catch {
            guard error.unknownKey != nil, mayFetchForUnknownKey() else { throw error }
            return nil
        }
    }

    /// Fetches the set, and verifies a token by it.
    /// - Throws: as `TokenVerifier.verified(_:with:at:)`.
    package func verifiedAfterFetch(
        _ text: String, by verifier: TokenVerifier, at date: Date
    ) async throws(TokenError) -> VerifiedToken {
        try? await reload()
        return try verifier.verified(text, with: self.keys, at: date)
    }

    private func mayFetchForUnknownKey() -> Bool {
        guard isRemote else { return false }
        let now = timekeeper.uptime
        return state.withLock { state in
            if state.loading != nil { return true }
            let waits = Self.unknownKeyWaits
            guard let last = state.lastUnknownKey, now - last.time < waits.upperBound * 2 else {
                state.lastUnknownKey = (now, waits.lowerBound)
                return true
            }
            guard now - last.time >= last.wait else { return false }
            state.lastUnknownKey = (now, min(last.wait * 2, waits.upperBound))
            return true
        }
    }

    private func load() async throws {
        do throws(KeySetError) {
            let work = EngineWork(.read)
            let keys: KeySet
            // While a former configuration's fetch of the same set is noted, this one is not.
            if let permit = guarded.health.permit(for: work) {
                do { keys = try await guarded.outcome(of: work, permit) { try await self.fetchedSet() }.get() } catch {
                    throw error as? KeySetError ?? .unreachable("It did not respond.")
                }
            } else {
                keys = try await fetchedSet()
            }
            let former = state.withLock { state in
                defer {
                    state.put(keys)
                    (state.failure, state.loading) = (nil, nil)
                }
                return state.keys.refused
            }
            let news = keys.refused.filter { !former.contains($0) }
            report(.loaded(keys: keys.keys.count, refused: keys.refused, news: news))
        } catch {
            state.withLock { ($0.failure, $0.loading) = (error, nil) }
            report(.kept(error))
            throw error
        }
    }

    private func fetchedSet() async throws(KeySetError) -> KeySet {
        let document: Data
        do {
            let late = KeySetError.unreachable("It took longer than \(Self.fetchTimeout.inWords).")
            document = try await withDeadline(Self.fetchTimeout, timekeeper, expired: { late }, fetch)
        } catch let error as KeySetError {
            throw error
        } catch let error as TransportError {
            // Its reason has only host and cause, and no part of an address that may have a token.
            throw .unreachable(error.reason, remedy: error.kind.remedyForKeySets)
        } catch {
            // The error may quote the address, and an address a token.
            throw .unreachable("The transport failed with \(type(of: error)).")
        }
        return try KeySet(jwks: document, beside: extra, algorithms: algorithms)
    }
}

extension Diagnosis.Kind {
    /// The remedy for an operator whose server cannot fetch a key set.
    fileprivate var remedyForKeySets: String {
        switch self {
        case .hostNotFound: "Correct the host's name, or the resolver of this machine."
        case .serverCertificateUntrusted, .serverCertificateExpired, .serverNameMismatch, .tlsFailed:
            "Fix the certificate there; for a private certificate authority, set the variable SSL_CERT_FILE."
        default: "Check that the address responds to this machine."
        }
    }
}
