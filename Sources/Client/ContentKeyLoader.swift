import Foundation
public import LatchkeyCore
public import LatchkeyVendors

/// Gets content keys for a player from a vendor's license service.
///
/// Make one per vendor configuration and keep it; it fetches the application certificate at once and shares it among all keys.
/// Give it key requests with `answer(_:)`, and each is answered exactly once: with a CKC, or with a `ContentKeyError` that says
/// what happened. Every request is an exchange of its own, because a CKC answers only the SPC that it was made for.
///
///     let loader = ContentKeyLoader(.vuDRM(certificate: url), credentials: .token { reason in try await app.token(reason) })
///     loader.answer(request)
///
/// A player that makes the SPC itself, or does the I/O itself, uses the steps one by one. Safe to use from any thread.
public final class ContentKeyLoader: Sendable {
    typealias Report = @Sendable (KeyEvent.Kind) -> Void

    /// The secure session with the vendor; nil where its licenses belong to none.
    public let session: SecureSession?
    /// The keys that play without a network; nil where the configuration names no store.
    public let offline: OfflineKeys?

    let caller: ServiceCaller
    let lookups: Lookups
    let certificates: CertificateCache
    let preloads = OpenPreloads()
    private let hub: EventHub
    private let open = OpenRequests()
    let held: HeldKeys

    /// - Parameters:
    ///   - integration: the vendor, with its settings.
    ///   - credentials: gives the token of each request.
    ///   - configuration: retries, hosts, limits.
    ///   - transport: carries the requests.
    ///   - timekeeper: the time.
    ///   - generator: randomness for waits.
    public init(
        _ integration: some DRMIntegration, credentials: Credentials = .none,
        configuration: LoaderConfiguration = LoaderConfiguration(),
        transport: any Transport = URLSessionTransport(), timekeeper: any Timekeeper = SystemTimekeeper(),
        generator: @escaping @Sendable () -> any RandomNumberGenerator = { SystemRandomNumberGenerator() }
    ) {
        let caller = ServiceCaller(
            integration: integration, credentials: credentials, configuration: configuration, transport: transport,
            timekeeper: timekeeper, generator: generator)
        let hub = EventHub()
        self.caller = caller
        self.hub = hub
        session = integration.sessionScope == .never ? nil : SecureSession(caller, hub.report(caller, 0, nil))
        offline = configuration.keyStore.map { OfflineKeys($0, for: caller) { hub.report(caller, 0, $0)($1) } }
        lookups = Lookups(caller)
        certificates = CertificateCache(caller, lookups)
        held = HeldKeys(caller)
        session?.attach(
            renew: { [weak held] in held?.renewAll() ?? false }, fail: { [weak held] error in held?.endAll(error) })
        if configuration.certificateFetch == .atOnce { certificates.prefetch(report(exchange: 0, key: nil)) }
    }

    /// Requests under way hold the loader; nothing is open here but perhaps the certificate's fetch.
    deinit { close() }

    /// What happens from now on, without secrets. Each call makes a stream of its own; a slow reader loses the oldest events.
    /// The first stream begins with what happened since the loader was made.
    public func events() -> AsyncStream<KeyEvent> { hub.stream() }

    /// Takes a player's key request and answers it exactly once. Returns at once; call it from anywhere.
    ///
    /// From its answer on the loader keeps the key alive, until the player releases it: see `PlayerKeyRequest.renew()`.
    @discardableResult
    public func answer(_ request: some PlayerKeyRequest) -> KeyRequestHandle {
        let claim = held.claim(request)
        let exchange = open.add(request)
        held.renewalBegan(claim, exchange.open)
        exchange.open.attach(startTask { await self.run(exchange, claim) })
        return KeyRequestHandle(open: exchange.open) { [weak self] in self?.release(claim) }
    }

    private func release(_ claim: HeldKeys.Claim) {
        held.release(claim)
        endSessionAfterLastKey()
    }

    /// Says that the player goes on to another source: its keys are let go, and a secure session ends as soon as requests that are
    /// under way have their answers. Keys that are asked for from now on belong to the new source.
    public func changeSource() {
        held.letAllGo()
        session?.changeSource()
    }

    /// Renews nothing and sends no heartbeat until `resume()`, for an app in the background that does not play.
    public func suspend() {
        held.suspend()
        session?.suspend()
    }

    /// Goes on after `suspend()`; what came due meanwhile is done once.
    public func resume() {
        held.resume()
        session?.resume()
    }

    /// Ends everything: each open key request is answered with `cancelled` before this returns, and so is each later one.
    ///
    /// An answer that another thread is giving at this moment may return a little later.
    public func cancel() {
        open.cancelAll()
        preloads.cancelAll()
        close()
    }

    private func close() {
        held.letAllGo()
        session?.close()
        offline?.close()
        lookups.close()
        certificates.close()
        caller.ahead.removeAll()
    }

    /// Turns what happens to an exchange into events.
    func report(exchange: Int, key: KeyURI?) -> Report { preloads.watching(hub.report(caller, exchange, key), key) }
}

extension EventHub {
    fileprivate func report(_ caller: ServiceCaller, _ exchange: Int, _ key: KeyURI?) -> ContentKeyLoader.Report {
        let shown = key.map { caller.integration.redaction.redacted(urlText: $0.raw) } ?? ""
        return { [self, timekeeper = caller.timekeeper] kind in
            send(KeyEvent(exchange: exchange, key: shown, date: timekeeper.date, kind: kind))
        }
    }
}

// MARK: - The way of one key

extension ContentKeyLoader {
    private func run(_ exchange: OpenRequests.Exchange, _ claim: HeldKeys.Claim) async {
        defer {
            open.remove(exchange)
            endSessionAfterLastKey()
        }
        let request = exchange.open.request
        let timekeeper = caller.timekeeper
        let deadline = caller.configuration.retry.deadline
        let start = timekeeper.uptime
        let progress = Progress()
        let send = report(exchange: exchange.number, key: request.keyURI)
        let report: Report = {
            progress.note($0)
            send($0)
        }
        report(.requested(request.purpose))
        do {
            let license = try await withDeadline(
                deadline, timekeeper,
                expired: {
                    ContentKeyError.deadlineExceeded(deadline, stage: progress.stage, after: progress.failure)
                },
                { try await self.answerable(for: request, report) })
            // Held first: a player that releases the key when it gets it finds it there.
            let hold = { self.held.hold(claim, request, license, send) }
            guard exchange.open.answer(.success(license.ckc.revealed), noting: hold) else {
                throw ContentKeyError.cancelled
            }
            report(.answered(took: timekeeper.uptime - start))
        } catch {
            let error = ContentKeyError(error, stage: progress.stage, otherwise: .integrationFailed)
            exchange.open.answer(.failure(error))
            held.fail(claim, error)
            report(.failed(error, took: timekeeper.uptime - start))
        }
    }

    /// A session belongs to the keys that are held or asked for.
    private func endSessionAfterLastKey() {
        if let session, held.isEmpty, open.isEmpty { session.changeSource() }
    }

    func license(for request: any PlayerKeyRequest, _ report: @escaping Report) async throws -> License {
        async let certificate = timed(.certificate, report) { try await self.certificates.certificate(report) }
        let identifier = try await timed(.contentIdentifier, report) { try self.contentIdentifier(for: request.keyURI) }
        let der = try await certificate.der
        let spc = try await timed(.spc, report) {
            do {
                return SPCMessage(try await request.makeSPC(certificate: der, contentIdentifier: identifier.bytes))
            } catch {
                throw ContentKeyError(error, stage: .spc, otherwise: .spcFailed)
            }
        }
        return try await timed(.license, report) {
            try await self.license(for: spc, request.keyURI, identifier, request.purpose, report)
        }
    }

    private func timed<Value: Sendable>(
        _ stage: ContentKeyError.Stage, _ report: Report, _ body: @Sendable () async throws -> Value
    ) async throws -> Value {
        let start = caller.timekeeper.uptime
        defer { report(.stageEnded(stage, took: caller.timekeeper.uptime - start)) }
        return try await body()
    }
}
