import Foundation
public import LatchkeyCore
public import LatchkeyVendors

#if canImport(FoundationNetworking)
    public import FoundationNetworking
#endif

/// Gets content keys for a player from a vendor's license service.
///
/// Make one per vendor configuration and keep it; it fetches the application certificate at once and shares it among all keys.
/// Give it key requests with `answer(_:)`, and each is answered exactly once: with a CKC, or with a `ContentKeyError` that says
/// what happened. Every request is an exchange of its own, because a CKC answers only the SPC that it was made for.
///
///     let loader = ContentKeyLoader(.vuDRM(certificate: url), credentials: .token { reason in try await app.token(reason) })
///     loader.answer(request)
///
/// A player that makes the SPC itself, or does the I/O itself, uses the steps one by one.
public actor ContentKeyLoader {
    private struct Certificate {
        let fetch: SharedFetch<ApplicationCertificate>
        let task: Task<Void, Never>
        let uptime: Duration
    }

    private nonisolated let caller: ServiceCaller
    private nonisolated let hub = EventHub()
    private nonisolated let open = OpenRequests()
    private var certificate: Certificate?
    /// The values that are looked up once for the loader.
    private var values: SharedFetch<[String: Secret]>?

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
        caller = ServiceCaller(
            integration: integration, credentials: credentials, configuration: configuration, transport: transport,
            timekeeper: timekeeper, generator: generator)
        guard configuration.certificateFetch == .atOnce else { return }
        Task { [weak self] in _ = try? await self?.applicationCertificate() }
    }

    deinit {
        certificate?.task.cancel()
        open.cancelAll()
    }

    /// What happens from now on, without secrets. Each call makes a stream of its own; a slow reader loses the oldest events.
    /// The first stream begins with what happened since the loader was made.
    public nonisolated func events() -> AsyncStream<KeyEvent> { hub.stream() }

    /// Takes a player's key request and answers it exactly once. Returns at once; call it from anywhere.
    @discardableResult
    public nonisolated func answer(_ request: some PlayerKeyRequest) -> KeyRequestHandle {
        let exchange = open.add(request)
        let task = Task { await self.run(exchange) }
        let handle = KeyRequestHandle(open: exchange.open, task: task)
        open.attach(handle, to: exchange)
        return handle
    }

    /// Ends everything: each open key request is answered with `cancelled` before this returns, and so is each later one.
    public nonisolated func cancel() { open.cancelAll() }
}

// MARK: - The steps, one by one

extension ContentKeyLoader {
    /// The application certificate: from the cache, or from one fetch that all callers share.
    public func applicationCertificate() async throws(ContentKeyError) -> ApplicationCertificate {
        try await applicationCertificate { [hub, caller] kind in
            hub.send(KeyEvent(exchange: 0, key: "", date: caller.timekeeper.date, kind: kind))
        }
    }

    /// What the license service knows a key by.
    public nonisolated func contentIdentifier(for key: KeyURI) throws(ContentKeyError) -> ContentIdentifier {
        let identifier: ContentIdentifier
        do {
            identifier = try caller.integration.contentIdentifier(for: key)
        } catch {
            throw ContentKeyError(error, stage: .contentIdentifier, otherwise: .integrationFailed)
        }
        // An empty identifier makes the system fail without a word of the cause (−42669, −42675).
        guard (2...200).contains(identifier.bytes.count) else {
            throw ContentKeyError(
                Kind(rawValue: IntegrationError.Kind.contentIdentifierMissing.rawValue), stage: .contentIdentifier,
                "The content identifier has \(identifier.bytes.count) bytes; a device takes 2 to 200.",
                remedy: "Choose the profile variant whose content-id rule fits the key URIs of the playlist.")
        }
        return identifier
    }

    /// Exchanges an SPC for a license: request, retries, reply.
    /// - Parameters:
    ///   - spc: what the player made.
    ///   - key: the key's URI.
    ///   - purpose: what the key is wanted for.
    public nonisolated func license(
        for spc: SPCMessage, key: KeyURI, purpose: KeyPurpose = .streaming
    ) async throws(ContentKeyError) -> License {
        let identifier = try contentIdentifier(for: key)
        return try await license(for: spc, key, identifier, purpose) { [hub, caller] kind in
            hub.send(KeyEvent(exchange: 0, key: key.redacted, date: caller.timekeeper.date, kind: kind))
        }
    }

    /// The certificate request, for a player that sends it itself; nil where the certificate does not come over the network.
    public nonisolated func certificateRequest() async throws(ContentKeyError) -> URLRequest? {
        try await mapped(.certificate) {
            let issued = IssuedCredentials { [caller] in try await caller.credentials(.certificate) }
            let context = CertificateContext { try await issued.credentials() }
            return try await caller.integration.certificateRequest(context).map { try caller.prepared($0) }
        }
    }

    /// The certificate in a reply that the player received.
    public nonisolated func applicationCertificate(
        from exchange: HTTPExchange
    ) async throws(ContentKeyError) -> ApplicationCertificate {
        try await mapped(.certificate) { try caller.integration.certificate(from: exchange) }
    }

    /// The license request, for a player that sends it itself.
    public nonisolated func licenseRequest(
        for spc: SPCMessage, key: KeyURI, purpose: KeyPurpose = .streaming
    ) async throws(ContentKeyError) -> URLRequest {
        let identifier = try contentIdentifier(for: key)
        return try await mapped(.license) {
            let issued = IssuedCredentials { [caller] in try await caller.credentials(.init(purpose)) }
            let context = LicenseContext(keyURI: key, contentIdentifier: identifier, purpose: purpose) {
                try await issued.credentials()
            }
            return try caller.prepared(try await caller.integration.licenseRequest(for: spc, context))
        }
    }

    /// The license in a reply that the player received.
    public nonisolated func license(
        from exchange: HTTPExchange, key: KeyURI, purpose: KeyPurpose = .streaming
    ) async throws(ContentKeyError) -> License {
        let identifier = try contentIdentifier(for: key)
        return try await mapped(.license) {
            let context = LicenseContext(keyURI: key, contentIdentifier: identifier, purpose: purpose)
            return try caller.integration.license(from: exchange, context)
        }
    }

    private typealias Kind = ContentKeyError.Kind

    private nonisolated func mapped<Value>(
        _ stage: ContentKeyError.Stage, _ body: () async throws -> Value
    ) async throws(ContentKeyError) -> Value {
        do {
            return try await body()
        } catch {
            throw ContentKeyError(error, stage: stage, otherwise: .integrationFailed)
        }
    }
}

// MARK: - The way of one key

extension ContentKeyLoader {
    typealias Report = @Sendable (KeyEvent.Kind) -> Void

    private func run(_ exchange: OpenRequests.Exchange) async {
        defer { open.remove(exchange) }
        let request = exchange.open.request
        let timekeeper = caller.timekeeper
        let start = timekeeper.uptime
        let report: Report = { [hub] kind in
            let key = request.keyURI.redacted
            hub.send(KeyEvent(exchange: exchange.number, key: key, date: timekeeper.date, kind: kind))
        }
        report(.requested(request.purpose))
        do {
            let license = try await withDeadline(
                caller.configuration.retry.deadline, timekeeper,
                expired: { [deadline = caller.configuration.retry.deadline] in
                    ContentKeyError(
                        .deadlineExceeded, "The key did not come within \(deadline.inSeconds) s.",
                        remedy: "Look at the events for the stage that took the time.", isRetryable: true)
                },
                { try await self.license(for: request, report) })
            guard exchange.open.answer(.success(license.ckc.revealed)) else { throw CancellationError() }
            report(.answered(took: timekeeper.uptime - start))
        } catch {
            let error = ContentKeyError(error, stage: .answer, otherwise: .integrationFailed)
            exchange.open.answer(.failure(error))
            report(.failed(error, took: timekeeper.uptime - start))
        }
    }

    private func license(for request: any PlayerKeyRequest, _ report: @escaping Report) async throws -> License {
        async let certificate = timed(.certificate, report) { try await self.applicationCertificate(report) }
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

    private func license(
        for spc: SPCMessage, _ key: KeyURI, _ identifier: ContentIdentifier, _ purpose: KeyPurpose,
        _ report: @escaping Report
    ) async throws(ContentKeyError) -> License {
        let integration = caller.integration
        let values = try await lookup(for: key, report)
        @Sendable func context(_ issued: IssuedCredentials?) -> LicenseContext {
            LicenseContext(keyURI: key, contentIdentifier: identifier, purpose: purpose, lookup: values) {
                try await issued?.credentials() ?? .none
            }
        }
        return try await caller.perform(
            .init(
                stage: .license, reason: Credentials.Reason(purpose),
                alsoSecret: [spc.bytes.revealed.base64EncodedString()] + values.values.map(\.revealedText),
                trusted: values.urls, report: report,
                makeRequest: { try await integration.licenseRequest(for: spc, context($0)) },
                read: { try integration.license(from: $0, context(nil)) }))
    }

    private nonisolated func timed<Value: Sendable>(
        _ stage: ContentKeyError.Stage, _ report: Report, _ body: @Sendable () async throws -> Value
    ) async throws -> Value {
        let start = caller.timekeeper.uptime
        defer { report(.stageEnded(stage, took: caller.timekeeper.uptime - start)) }
        return try await body()
    }
}

// MARK: - The certificate

extension ContentKeyLoader {
    private func applicationCertificate(_ report: @escaping Report) async throws(ContentKeyError)
        -> ApplicationCertificate
    {
        do {
            if let current = currentFetch() {
                report(.certificateFromCache)
                return try await current.value()
            }
            return try await startFetch(report).value()
        } catch {
            throw ContentKeyError(error, stage: .certificate, otherwise: .integrationFailed)
        }
    }

    private func currentFetch() -> SharedFetch<ApplicationCertificate>? {
        guard let certificate,
            caller.timekeeper.uptime - certificate.uptime < caller.configuration.certificateLifetime
        else { return nil }
        return certificate.fetch
    }

    /// Starts the one fetch. Its task belongs to the loader, not to the caller, so that a cancelled key takes nobody's certificate.
    private func startFetch(_ report: @escaping Report) -> SharedFetch<ApplicationCertificate> {
        let fetch = SharedFetch<ApplicationCertificate>()
        let task = Task { [caller, weak self] in
            let result = await Result {
                let values = try await self?.lookup(for: nil, report) ?? [:]
                return try await Self.fetchCertificate(caller, values, report)
            }
            if case .failure = result { await self?.forget(fetch) }
            fetch.end(result)
        }
        certificate = Certificate(fetch: fetch, task: task, uptime: caller.timekeeper.uptime)
        return fetch
    }

    /// A failed fetch is not kept: the next key tries anew.
    private func forget(_ fetch: SharedFetch<ApplicationCertificate>) {
        if certificate?.fetch === fetch { certificate = nil }
    }

    private static func fetchCertificate(
        _ caller: ServiceCaller, _ values: [String: Secret], _ report: @escaping Report
    ) async throws -> ApplicationCertificate {
        if let bundled = try caller.integration.bundledCertificate() { return bundled }
        let integration = caller.integration
        return try await caller.perform(
            .init(
                stage: .certificate, reason: .certificate, alsoSecret: values.values.map(\.revealedText),
                trusted: values.urls, report: report,
                makeRequest: { issued in
                    let context = CertificateContext(lookup: values) { try await issued.credentials() }
                    guard let request = try await integration.certificateRequest(context) else {
                        throw ContentKeyError(
                            .certificateMissing, "The integration gives no application certificate.",
                            remedy: "Give a certificate URL, or bundle the certificate.")
                    }
                    return request
                },
                read: { try integration.certificate(from: $0) }))
    }
}

// MARK: - The lookup before both

extension ContentKeyLoader {
    /// What the integration has to look up first: once for the loader, or for a key. A failed lookup is not kept.
    private func lookup(for key: KeyURI?, _ report: @escaping Report) async throws(ContentKeyError) -> [String: Secret]
    {
        do {
            switch (caller.integration.lookupScope, key) {
            case (.never, _), (.key, nil): return [:]
            case (.key, let key?): return try await Self.lookUp(caller, key, report)
            case (.loader, _):
                if let values { return try await values.value() }
                let fetch = SharedFetch<[String: Secret]>()
                values = fetch
                Task { [caller] in
                    let result = await Result { try await Self.lookUp(caller, nil, report) }
                    if case .failure = result { self.forget(fetch) }
                    fetch.end(result)
                }
                return try await fetch.value()
            }
        } catch {
            throw ContentKeyError(error, stage: .lookup, otherwise: .integrationFailed)
        }
    }

    private func forget(_ fetch: SharedFetch<[String: Secret]>) {
        if values === fetch { values = nil }
    }

    private static func lookUp(
        _ caller: ServiceCaller, _ key: KeyURI?, _ report: @escaping Report
    ) async throws -> [String: Secret] {
        let integration = caller.integration
        let messageID = UUID().uuidString.lowercased()
        return try await caller.perform(
            .init(
                stage: .lookup, reason: .first, report: report,
                makeRequest: { issued in
                    let context = LookupContext(keyURI: key, messageID: messageID) { try await issued.credentials() }
                    guard let request = try await integration.lookupRequest(context) else {
                        throw ContentKeyError(
                            .integrationFailed, "The integration makes no lookup request.",
                            remedy: "Return a request, or give the lookup scope never.")
                    }
                    return request
                },
                read: { try integration.lookup(from: $0, LookupContext(keyURI: key, messageID: messageID)) }))
    }
}

extension [String: Secret] {
    /// The values that are http or https URLs.
    fileprivate var urls: [URL] {
        values.compactMap { URL(string: $0.revealedText) }.filter {
            ["http", "https"].contains($0.scheme?.lowercased())
        }
    }
}

extension KeyURI {
    /// The text with secret query items replaced, for events.
    var redacted: String { Redaction.standard.redacted(urlText: raw) }
}
