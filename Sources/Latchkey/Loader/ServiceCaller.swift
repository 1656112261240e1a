import Foundation
import LatchkeyCore
import LatchkeyTransport
@_spi(Integrations) import LatchkeyVendors

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// Calls a service for one stage: builds the request for each attempt, sends it to an allowed host, follows redirects, retries failures.
struct ServiceCaller: Sendable {
    let integration: any VendorIntegration
    let credentials: Credentials
    let configuration: LoaderConfiguration
    let transport: any Transport
    let timekeeper: any Timekeeper
    let generator: @Sendable () -> any RandomNumberGenerator
    let limiter: HostLimiter
    /// Credentials that a preload requested before the license requests, each for one key and title.
    let prefetched: PrefetchedValues<Credentials.Request, CredentialSet>
    /// The record for support; `nil` if the configuration records nothing.
    let record: (any LoaderRecord)?

    init(
        integration: any VendorIntegration, credentials: Credentials, configuration: LoaderConfiguration,
        transport: any Transport, timekeeper: any Timekeeper,
        generator: @escaping @Sendable () -> any RandomNumberGenerator
    ) {
        self.integration = integration
        self.credentials = credentials
        self.configuration = configuration
        self.transport = transport
        self.timekeeper = timekeeper
        self.generator = generator
        limiter = HostLimiter(limit: configuration.requestsPerHost)
        prefetched = PrefetchedValues(timekeeper, lifetime: configuration.preparedCredentialsLifetime)
        record = configuration.recording.record.map { record in
            var randomness = SomeGenerator(generator())
            return record(integration, .random(in: 0 ... .max, using: &randomness))
        }
    }

    /// The parameters of one call.
    struct Call<Value: Sendable>: Sendable {
        /// The first request for the app's credentials.
        let asking: Credentials.Request
        var alsoSecret: [Secret] = []
        /// URLs from a lookup; they are allowed like configured ones.
        var trusted: [URL] = []
        /// The likely target of the request, so that it waits for that host before it is built.
        var expected: URL?
        var trace: Trace
        let makeRequest: @Sendable (IssuedCredentials) async throws -> URLRequest
        let read: @Sendable (HTTPExchange) throws -> Value

        var stage: ContentKeyError.Stage { asking.stage }
    }

    /// Retries until there is a value, a final error, or no attempt or time left.
    func perform<Value: Sendable>(_ call: Call<Value>) async throws(ContentKeyError) -> Value {
        let deadline = configuration.retry.deadline
        var call = call
        let trace = call.trace.part()
        call.trace = trace
        do {
            return try await withDeadline(
                deadline, timekeeper, expired: { [call] in trace.deadlineExceeded(deadline, at: call.stage) },
                { [call] in try await attempts(call) })
        } catch {
            throw ContentKeyError(error, stage: call.stage, otherwise: .integrationFailed)
        }
    }

    private func attempts<Value: Sendable>(_ call: Call<Value>) async throws(ContentKeyError) -> Value {
        var attempt = 1
        var asking = call.asking
        var hasNewCredentials = false
        while true {
            let issued = IssuedCredentials(alsoSecret: call.alsoSecret) { [asking] in
                try await credentials(for: asking, call.trace)
            }
            do {
                return try await self.attempt(call, issued)
            } catch {
                var error = error
                error.attempts = attempt + (hasNewCredentials ? 1 : 0)
                if error.wantsNewCredentials, issued.areGiven, !hasNewCredentials, !Task.isCancelled {
                    hasNewCredentials = true
                    asking.reason = .rejected
                    call.trace.send(.retrying(attempt: attempt, after: .zero, code: error.code))
                    continue
                }
                try await waitForNextAttempt(after: attempt, error, call.trace)
                attempt += 1
                asking.reason = .retry(attempt: attempt)
            }
        }
    }

    /// Credentials that a preload got for the same request, each used once, or new ones.
    private func credentials(for asking: Credentials.Request, _ trace: Trace) async throws -> CredentialSet {
        guard let ready = prefetched.take(asking) else {
            let given = try await credentials(asking)
            record?.note(given)
            return given
        }
        trace.send(.prepared(.credentials, saved: ready.took))
        record?.note(ready.value)
        return ready.value
    }

    /// Waits as the policy says, or throws the error if the policy gives up.
    private func waitForNextAttempt(
        after attempt: Int, _ error: ContentKeyError, _ trace: Trace
    ) async throws(ContentKeyError) {
        var generator = SomeGenerator(generator())
        // Bounded, because a number from an app's own integration may not fit into a `Duration`.
        let asked = error.service?.retryAfter.map { Duration.seconds($0 > 0 ? min($0, 1e9) : 0) }
        guard error.isRetryable,
            let wait = configuration.retry.wait(after: attempt, serviceAsksFor: asked, using: &generator)
        else { throw error }
        trace.send(.retrying(attempt: attempt, after: wait, code: error.code))
        do {
            try await timekeeper.sleep(for: wait)
        } catch {
            throw .cancelled
        }
    }

    private func attempt<Value: Sendable>(
        _ call: Call<Value>, _ issued: IssuedCredentials
    ) async throws(ContentKeyError) -> Value {
        let admitted = try await admitted(call, issued)
        let exchange: HTTPExchange
        do {
            exchange = try await self.exchange(admitted, call, issued)
        } catch {
            throw ContentKeyError(error, stage: call.stage, otherwise: .integrationFailed)
                .scrubbed(of: secretForms(of: admitted.request, issued))
        }
        return try read(call.stage, exchange, issued, call.read)
    }
}

// MARK: - Request and reply

extension ServiceCaller {
    /// The request of one attempt, as it may be sent.
    ///
    /// The app's credentials and the integration's code have the time of one attempt.
    func request(
        _ stage: ContentKeyError.Stage, _ issued: IssuedCredentials, for key: KeyURI?, trusting trusted: [URL] = [],
        _ make: @escaping @Sendable (IssuedCredentials) async throws -> URLRequest
    ) async throws(ContentKeyError) -> URLRequest {
        let limit = configuration.retry.attemptTimeout
        do {
            return try prepared(
                try await withDeadline(
                    limit, timekeeper, expired: { ContentKeyError.requestMissing(after: limit, issued) },
                    { try await make(issued) }), for: key, issued, trusting: trusted)
        } catch {
            throw ContentKeyError(error, stage: stage, otherwise: .integrationFailed)
                .scrubbed(of: SecretForms(issued.secrets))
        }
    }

    /// Reads a reply with the integration.
    func read<Value>(
        _ stage: ContentKeyError.Stage, _ exchange: HTTPExchange, _ issued: IssuedCredentials? = nil,
        _ read: (HTTPExchange) throws -> Value
    ) throws(ContentKeyError) -> Value {
        do {
            return try read(exchange)
        } catch {
            throw ContentKeyError(error, stage: stage, otherwise: .integrationFailed)
                .scrubbed(of: secretForms(of: exchange.request, issued))
        }
    }

    private func secretForms(of request: URLRequest, _ issued: IssuedCredentials?) -> SecretForms {
        SecretForms(integration.redaction.secrets(in: request) + (issued?.secrets ?? []))
    }

    /// The request as it may be sent.
    /// - Throws: `hostRefused`, `insecureURL`.
    private func prepared(
        _ request: URLRequest, for key: KeyURI?, _ issued: IssuedCredentials, trusting trusted: [URL]
    ) throws(ContentKeyError) -> URLRequest {
        guard let url = request.url else {
            throw ContentKeyError(.integrationFailed, "The request has no URL.", remedy: "Set the request's URL.")
        }
        var request = request
        let adapted = configuration.hosts.adapted(url)
        try configuration.hosts.check(adapted, configured: integration.configuredURLs + trusted) { origin in
            integration.source(of: origin, key, issued.credentialSet)
        }
        request.url = adapted
        request.timeoutInterval = configuration.retry.attemptTimeout.inSeconds
        return request
    }
}

extension VendorIntegration {
    /// The source of a request's host; `nil` if unknown.
    func source(of origin: Origin, _ key: KeyURI?, _ given: CredentialSet = .none) -> ValueOrigin? {
        if key?.names(origin) == true { return .playlist }
        let holder = given.values.filter { $0.value.revealedText.lowercased().contains("//\(origin.host)") }.keys.min()
        return holder.map { .credential($0) } ?? setting(holding: origin.host)
            ?? (self is ConfiguredVendor ? nil : .integration(identifier))
    }
}

/// A random number generator of unknown type, to be passed `inout`.
struct SomeGenerator: RandomNumberGenerator {
    private var base: any RandomNumberGenerator
    init(_ base: any RandomNumberGenerator) { self.base = base }
    mutating func next() -> UInt64 { base.next() }
}

extension ContentKeyError {
    fileprivate static func requestMissing(after limit: Duration, _ issued: IssuedCredentials) -> Self {
        issued.areAwaited
            ? .credentialsMissing(limit)
            : Self(
                .integrationFailed, "The integration made no request within \(limit.inWords).",
                remedy: "Return from the integration's hook in time.", isRetryable: true)
    }
}
