import Foundation
public import LatchkeyCore
package import LatchkeyTransport
@_spi(Integrations) public import LatchkeyVendors

/// Gets content keys for a player from a vendor's license service.
///
/// Make one per vendor configuration and keep it; it fetches the application certificate immediately and shares it among all keys. Pass key
/// requests to `answer(_:)`. Each ends exactly once: with a CKC, with a `ContentKeyError`, or without an answer if the player's system
/// holds the key already. Every request has its own exchange, because a CKC answers only the SPC that it was made for.
///
///     let loader = ContentKeyLoader(.vuDRM(certificate: url), credentials: .token { request in try await app.token(for: request.asset) })
///     loader.answer(request)
///
/// A player that makes the SPC itself, or does the I/O itself, uses the steps one by one. Safe to use from any thread.
public final class ContentKeyLoader: Sendable {
    /// The keys that play without a network; `nil` if the configuration names no store.
    public let offline: OfflineKeys?
    /// The keys that are kept for replays; `nil` if the configuration has no `licenseCache`, or the vendor does not allow one.
    public let licenseCache: LicenseCache?

    let caller: ServiceCaller
    let prerequisites: Prerequisites
    let certificates: CertificateCache
    let preloads: OpenPreloads
    let namedKeys = NamedKeys()
    let requests: KeyRequests
    /// The players' secure sessions with the vendor; `nil` if its licenses need none.
    let sessions: SecureSessions?
    private let hub: EventHub

    /// - Parameters:
    ///   - vendor: the vendor, with its settings.
    ///   - credentials: gives the token of each request.
    ///   - configuration: retries, hosts, limits.
    ///   - transport: carries the requests.
    ///   - timekeeper: the time.
    ///   - generator: randomness for waits.
    public convenience init(
        _ vendor: ConfiguredVendor, credentials: Credentials = .none,
        configuration: LoaderConfiguration = LoaderConfiguration(),
        transport: any Transport = SystemTransport(), timekeeper: any Timekeeper = SystemTimekeeper(),
        generator: @escaping @Sendable () -> any RandomNumberGenerator = { SystemRandomNumberGenerator() }
    ) {
        self.init(
            integration: vendor, credentials: credentials, configuration: configuration, transport: transport,
            timekeeper: timekeeper, generator: generator)
    }

    /// Makes a loader for an integration in code.
    /// - Parameters:
    ///   - integration: how to talk to the vendor.
    ///   - credentials: gives the token of each request.
    ///   - configuration: retries, hosts, limits.
    ///   - transport: carries the requests.
    ///   - timekeeper: the time.
    ///   - generator: randomness for waits.
    @_spi(Integrations)
    public convenience init(
        _ integration: some VendorIntegration, credentials: Credentials = .none,
        configuration: LoaderConfiguration = LoaderConfiguration(),
        transport: any Transport = SystemTransport(), timekeeper: any Timekeeper = SystemTimekeeper(),
        generator: @escaping @Sendable () -> any RandomNumberGenerator = { SystemRandomNumberGenerator() }
    ) {
        self.init(
            integration: integration, credentials: credentials, configuration: configuration, transport: transport,
            timekeeper: timekeeper, generator: generator)
    }

    private init(
        integration: any VendorIntegration, credentials: Credentials, configuration: LoaderConfiguration,
        transport: any Transport, timekeeper: any Timekeeper,
        generator: @escaping @Sendable () -> any RandomNumberGenerator
    ) {
        let caller = ServiceCaller(
            integration: integration, credentials: credentials, configuration: configuration, transport: transport,
            timekeeper: timekeeper, generator: generator)
        let preloads = OpenPreloads()
        let hub = EventHub(caller)
        let requests = KeyRequests(
            KeyRequests.Context(
                leases: configuration.leases, vendor: integration.renewal, patience: configuration.retry.deadline,
                refusalMemory: configuration.retry.refusalMemory, timekeeper: timekeeper, generator: generator,
                trace: { hub.trace($0, $1, of: $2, then: preloads.observer(of: $1)) }))
        self.caller = caller
        self.hub = hub
        self.preloads = preloads
        self.requests = requests
        sessions = SecureSessions(caller, requests, trace: { hub.trace() })
        offline = configuration.keyStore.map { OfflineKeys($0, for: caller) { hub.trace(0, $0, of: $1).send($2) } }
        licenseCache = LicenseCache(for: caller) { hub.trace(0, $0, of: $1).send($2) }
        prerequisites = Prerequisites(caller)
        certificates = CertificateCache(caller, prerequisites)
        if configuration.certificateFetch == .atOnce { certificates.prefetch(trace()) }
    }

    /// Work on requests retains the loader, so only the certificate's fetch may still run here.
    deinit {
        requests.close(.dropped)
        close()
    }

    /// The events from now on, without secrets. Each call makes its own stream; a slow reader loses the oldest events.
    /// The first stream begins with the events since the loader was made.
    public func events() -> AsyncStream<KeyEvent> { hub.stream() }

    /// The counts since the loader was made.
    public var statistics: KeyStatistics { hub.statistics }

    /// A title's counts; empty if it is not among the latest 256 titles and keys together.
    public func statistics(of asset: AssetID) -> KeyStatistics { hub.statistics(of: asset) }

    /// A key's counts; empty if it is not among the latest 256 titles and keys together.
    public func statistics(of key: KeyURI) -> KeyStatistics { hub.statistics(of: key) }

    /// Takes a player's key request and ends it exactly once. Returns immediately; call it from anywhere.
    ///
    /// After its answer the loader keeps the key alive, until its player is released: see `PlayerKeyRequest.renew()`.
    @_spi(Adapters)
    @discardableResult
    public func answer(_ request: some PlayerKeyRequest) -> KeyRequest {
        let request = requests.add(request)
        request.start { await self.work(on: $0) }
        return request
    }

    /// Ends everything: each pending key request is answered with `cancelled` before this returns, and so is each later one.
    ///
    /// An answer that another thread is giving at this moment may return a little later.
    public func cancel() {
        requests.close(.cancelled)
        preloads.cancelAll()
        close()
    }

    private func close() {
        sessions?.close()
        offline?.close()
        licenseCache?.close()
        prerequisites.close()
        certificates.close()
        caller.prefetched.removeAll()
    }

    /// The trace of an exchange without a request.
    func trace(_ key: KeyURI? = nil, _ asset: AssetID? = nil) -> Trace {
        hub.trace(0, key, of: asset, then: preloads.observer(of: key))
    }
}

// MARK: - Players

/// The methods that an adapter calls for one player. A second player, window, or title of the same loader keeps its keys.
@_spi(Adapters) extension ContentKeyLoader {
    /// Stops the renewals of a player's keys and the heartbeats of its session until it is resumed. Its leases are remembered.
    public func suspend(_ player: PlayerID) {
        requests.suspend(player)
        sessions?[existing: player]?.suspend()
    }

    /// Renews a player's keys again. An overdue renewal is made once.
    public func resume(_ player: PlayerID) {
        requests.resume(player)
        sessions?[existing: player]?.resume()
    }

    /// Releases a player: its pending requests end with `cancelled`, its keys are not renewed, and its secure session ends.
    public func release(_ player: PlayerID) { requests.release(player) }

    /// Asks a player to renew the keys whose leases ended or that rotated out.
    /// - Returns: The keys that the player can renew.
    public func renewEndedKeys(of player: PlayerID) -> Set<KeyURI> { requests.renewLapsed(of: player) }

    /// The state of a player's secure session; `nil` if it has none.
    public func sessionState(of player: PlayerID) async -> SessionState? { await sessions?[existing: player]?.state }

    /// Whether a player can be suspended and resumed later without a new license: it holds keys, no lease has ended, and the vendor keeps
    /// no session for them.
    public func canKeep(_ player: PlayerID) -> Bool { sessions == nil && holdsLiveKeys(player) }

    /// Whether a player holds keys and none of their leases has ended.
    public func holdsLiveKeys(_ player: PlayerID) -> Bool { requests.holdsLiveKeys(player) }

    /// Whether a player holds a key that will be renewed.
    public func renews(_ key: KeyURI, for player: PlayerID) -> Bool { requests.renews(.init(player: player, uri: key)) }

    /// The title of a key, according to its latest request; `nil` if unknown.
    public func asset(of key: KeyURI, for player: PlayerID) -> AssetID? {
        requests.request(of: .init(player: player, uri: key))?.asset
    }
}

// MARK: - The way of one key

extension ContentKeyLoader {
    /// Gets the license for a request, and answers the player.
    private func work(on request: KeyRequest) async {
        let trace = request.trace
        let deadline = caller.configuration.retry.deadline
        if requests.refusals[RefusalMemory.Question(request.playerRequest, of: trace.asset)] == nil {
            caller.record?.note(request.playerRequest.keyURI, request.purpose, of: trace.number)
        }
        trace.send(.requested(request.purpose))
        do {
            let license = try await withDeadline(
                deadline, caller.timekeeper, expired: { trace.deadlineExceeded(deadline) },
                { try await self.answerable(for: request.playerRequest, trace) })
            requests.finish(request, license.map { .license($0.ckc, requests.plan($0)) } ?? .heldBySystem)
        } catch {
            let error = ContentKeyError(error, stage: trace.stage, otherwise: .integrationFailed)
            requests.finish(request, .failure(error))
        }
    }

    /// The license for a request; `nil` if the system holds the key.
    func license(for request: any PlayerKeyRequest, _ trace: Trace) async throws -> License? {
        let question = RefusalMemory.Question(request, of: trace.asset)
        if let refusal = requests.refusals[question] { throw refusal }
        do { return try await newLicense(for: request, trace) } catch {
            requests.refusals.note(error, of: question)
            throw error
        }
    }

    private func newLicense(for request: any PlayerKeyRequest, _ trace: Trace) async throws -> License? {
        async let certificate = trace.stage(.certificate) { try await self.certificates.certificate(trace) }
        let identifier = try await trace.stage(.contentIdentifier) { try self.contentIdentifier(for: request.keyURI) }
        let der = try await certificate.bytes
        let spc = try await trace.stage(.spc) {
            do {
                return try await request.makeOptionalSPC(certificate: der, contentIdentifier: identifier.bytes)
                    .map { SPCMessage($0) }
            } catch {
                throw ContentKeyError(error, stage: .spc, otherwise: .spcFailed)
            }
        }
        guard let spc else { return nil }
        return try await trace.stage(.license) {
            try await self.license(for: spc, request.keyURI, identifier, request.purpose, request.player, trace)
        }
    }
}
