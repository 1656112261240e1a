import Foundation
import LatchkeyCore
import LatchkeyVendors

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// One stage's conversation with a service: the request made afresh for each attempt, sent where it may go, redirects followed,
/// failures retried.
struct ServiceCaller: Sendable {
    let integration: any DRMIntegration
    let credentials: Credentials
    let configuration: LoaderConfiguration
    let transport: any Transport
    let timekeeper: any Timekeeper
    let generator: @Sendable () -> any RandomNumberGenerator

    /// What one call is about.
    struct Call<Value: Sendable>: Sendable {
        let stage: ContentKeyError.Stage
        let reason: Credentials.Reason
        var alsoSecret: [String] = []
        /// URLs that a lookup gave; they may be asked as if they had been configured.
        var trusted: [URL] = []
        let report: @Sendable (KeyEvent.Kind) -> Void
        let makeRequest: @Sendable (IssuedCredentials) async throws -> URLRequest
        let read: @Sendable (HTTPExchange) throws -> Value
    }

    /// Calls until there is a value, an error that is final, or no attempt left.
    func perform<Value: Sendable>(_ call: Call<Value>) async throws(ContentKeyError) -> Value {
        var attempt = 1
        var reason = call.reason
        var hasNewCredentials = false
        while true {
            do {
                return try await self.attempt(call, reason)
            } catch {
                var error = error
                error.attempts = attempt + (hasNewCredentials ? 1 : 0)
                if error.wantsNewCredentials, !hasNewCredentials, !Task.isCancelled {
                    hasNewCredentials = true
                    reason = .rejected
                    call.report(.retrying(attempt: attempt, after: .zero, code: error.code))
                    continue
                }
                try await waitForNextAttempt(after: attempt, error, call)
                attempt += 1
                reason = .retry(attempt: attempt)
            }
        }
    }

    /// Waits as the policy says, or throws the error where it says to give up.
    private func waitForNextAttempt<Value>(
        after attempt: Int, _ error: ContentKeyError, _ call: Call<Value>
    ) async throws(ContentKeyError) {
        var generator = SomeGenerator(generator())
        let asked = error.service?.retryAfter.map { Duration.seconds($0) }
        guard error.isRetryable,
            let wait = configuration.retry.wait(after: attempt, serviceAsksFor: asked, using: &generator)
        else { throw error }
        call.report(.retrying(attempt: attempt, after: wait, code: error.code))
        do {
            try await timekeeper.sleep(for: wait)
        } catch {
            throw .cancelled
        }
    }

    private func attempt<Value: Sendable>(
        _ call: Call<Value>, _ reason: Credentials.Reason
    ) async throws(ContentKeyError) -> Value {
        let issued = IssuedCredentials(alsoSecret: call.alsoSecret) { [credentials] in try await credentials(reason) }
        do {
            let request = try prepared(try await call.makeRequest(issued), trusting: call.trusted)
            return try call.read(try await exchange(request, call, issued))
        } catch {
            throw ContentKeyError(error, stage: call.stage, otherwise: .integrationFailed)
                .scrubbed(of: issued.secretTexts)
        }
    }

    /// The request as it may be sent.
    /// - Throws: `hostRefused`, `insecureURL`.
    func prepared(_ request: URLRequest, trusting trusted: [URL] = []) throws(ContentKeyError) -> URLRequest {
        guard let url = request.url else {
            throw ContentKeyError(.integrationFailed, "The request has no URL.", remedy: "Set the request's URL.")
        }
        var request = request
        let adapted = configuration.hosts.adapted(url)
        try configuration.hosts.check(adapted, configured: integration.configuredURLs + trusted)
        request.url = adapted
        request.timeoutInterval = configuration.retry.attemptTimeout.inSeconds
        return request
    }

    private func exchange<Value>(
        _ first: URLRequest, _ call: Call<Value>, _ issued: IssuedCredentials
    ) async throws -> HTTPExchange {
        var request = first
        for _ in 0...configuration.redirectLimit {
            let reply = try await reply(to: request, call, issued)
            guard let redirect = try Redirect(of: request, by: reply, hosts: configuration.hosts, issued: issued) else {
                return HTTPExchange(request: request, reply: reply)
            }
            request = redirect.request
            call.report(.redirected(to: shown(request, issued), credentialsDropped: redirect.dropsCredentials))
        }
        throw ContentKeyError(
            .redirectRefused, "The service redirects more than \(configuration.redirectLimit) times.",
            remedy: "Configure the URL that the service redirects to.")
    }

    private func reply<Value>(
        to request: URLRequest, _ call: Call<Value>, _ issued: IssuedCredentials
    ) async throws -> HTTPReply {
        let start = timekeeper.uptime
        func summary(_ status: Int?) -> KeyEvent.HTTPSummary {
            KeyEvent.HTTPSummary(
                stage: call.stage, method: request.httpMethod ?? "GET", url: shown(request, issued), status: status,
                milliseconds: (timekeeper.uptime - start).inMilliseconds)
        }
        do {
            let limit = configuration.retry.attemptTimeout
            let reply = try await withDeadline(
                limit, timekeeper,
                expired: { TransportError(.timedOut, "The server did not answer within \(limit.inSeconds) s.") },
                { [transport, bodyLimit = configuration.bodyLimit] in
                    try await transport.send(request, bodyLimit: bodyLimit)
                })
            call.report(.exchanged(summary(reply.status)))
            return reply
        } catch {
            let code = ContentKeyError(error, stage: call.stage, otherwise: .integrationFailed).code
            call.report(.unanswered(summary(nil), code: code))
            throw error
        }
    }

    private func shown(_ request: URLRequest, _ issued: IssuedCredentials) -> String {
        let url = request.url.map { integration.redaction.redacted($0) } ?? ""
        return issued.secretTexts.filter { $0.count >= 6 }.reduce(url) {
            $0.replacingOccurrences(of: $1, with: "‹secret›")
        }
    }
}

/// A random number generator of unknown type, to be passed `inout`.
private struct SomeGenerator: RandomNumberGenerator {
    private var base: any RandomNumberGenerator
    init(_ base: any RandomNumberGenerator) { self.base = base }
    mutating func next() -> UInt64 { base.next() }
}
