import Foundation
import LatchkeyCore
import LatchkeyTransport
@_spi(Integrations) import LatchkeyVendors

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// One attempt: its permits, the request, redirects, the reply.
extension ServiceCaller {
    /// A request that may be sent.
    struct Admitted: Sendable {
        let request: URLRequest
        let permit: HostPermit
        /// When the attempt times out, by the timekeeper's uptime.
        let end: Duration
        /// How long making the request took, and how long it waited for its host.
        let preparation, queue: Duration
    }

    /// Builds the attempt's request, and waits for the permit to send it.
    ///
    /// The host is known only after the request is built, and the request holds a token that may live seconds. So at most a host's limit of
    /// requests is built before they may be sent, and a request that waited too long is built again once it has its permit.
    func admitted<Value>(
        _ call: Call<Value>, _ issued: IssuedCredentials
    ) async throws(ContentKeyError) -> Admitted {
        let expected = call.expected.flatMap { Origin(configuration.hosts.adapted($0)) }
        let building = try await limiter.permit(for: .building(call.stage, for: expected))
        defer { building.release() }
        var permit: HostPermit?
        while true {
            let start = timekeeper.uptime
            let request = try await request(
                call.stage, issued, for: call.asking.key, trusting: call.trusted, call.makeRequest)
            let made = timekeeper.uptime
            let taken = try await self.permit(for: request, replacing: permit)
            let waited = timekeeper.uptime - made
            if waited <= configuration.requestPatience {
                let end = start + waited + configuration.retry.attemptTimeout
                return Admitted(
                    request: request, permit: taken, end: end, preparation: made - start, queue: waited)
            }
            permit = taken
            issued.discard()
        }
    }

    /// A permit to send to the request's host: the held one if it is for that host, else a new one.
    ///
    /// The held one is returned first, because two requests that each wait for the other's host would deadlock.
    private func permit(
        for request: URLRequest, replacing held: HostPermit?
    ) async throws(ContentKeyError) -> HostPermit {
        guard let origin = request.url.flatMap(Origin.init) else {
            throw ContentKeyError(.integrationFailed, "The request has no host.", remedy: "Set the request's URL.")
        }
        if let held, held.activity == .sending(to: origin) { return held }
        held?.release()
        return try await limiter.permit(for: .sending(to: origin))
    }

    func exchange<Value>(
        _ admitted: Admitted, _ call: Call<Value>, _ issued: IssuedCredentials
    ) async throws -> HTTPExchange {
        var (request, permit, end) = (admitted.request, admitted.permit, admitted.end)
        defer { permit.release() }
        var address = issued.forms.scrubbed(request.url.map { integration.redaction.redacted($0) } ?? "")
        var lead: Admitted? = admitted
        var carriesTrace = true
        for _ in 0...max(0, configuration.redirectLimit) {
            let parent = carriesTrace ? call.trace.identifiers?.next() : nil
            if let parent { request.setValue(parent.header, forHTTPHeaderField: TraceParent.field) }
            let reply = try await reply(
                to: request, KnownFacts(address: address, lead: lead, parent: parent), call, issued, until: end)
            lead = nil
            let redirect = try Redirect(
                of: request, by: reply, hosts: configuration.hosts,
                configured: integration.configuredURLs + call.trusted, issued: issued)
            guard let redirect else { return HTTPExchange(request: request, reply: reply) }
            request = redirect.request
            carriesTrace = carriesTrace && !redirect.dropsCredentials
            address = Self.shownAddress(of: request, issued)
            call.trace.send(.redirected(to: address, credentialsDropped: redirect.dropsCredentials))
            let start = timekeeper.uptime
            permit = try await self.permit(for: request, replacing: permit)
            end += timekeeper.uptime - start
        }
        throw ContentKeyError(
            .redirectRefused, "The service redirects more than \(configuration.redirectLimit) times.",
            remedy: "Configure the URL that the service redirects to.")
    }

    /// The facts of a request that are known before it is sent.
    private struct KnownFacts {
        /// The address without secrets.
        let address: String
        /// The admission before it; `nil` for the request after a redirect.
        let lead: Admitted?
        let parent: TraceParent?
    }

    private func reply<Value>(
        to request: URLRequest, _ known: KnownFacts, _ call: Call<Value>, _ issued: IssuedCredentials,
        until end: Duration
    ) async throws -> HTTPReply {
        let (date, start) = (timekeeper.date, timekeeper.uptime)
        func note(_ reply: HTTPReply?, code: String? = nil) {
            guard let record else { return }
            var exchange = RecordedExchange(request, reply, code: code, at: date, took: timekeeper.uptime - start)
            (exchange.stage, exchange.number) = (call.stage.rawValue, call.trace.number)
            record.note(exchange, hiding: issued.secrets.filter { $0.count <= Self.longestCredential })
        }
        func summary(_ reply: HTTPReply?) -> KeyEvent.HTTPSummary {
            var summary = KeyEvent.HTTPSummary(
                stage: call.stage, method: request.httpMethod ?? "GET", url: known.address, status: reply?.status,
                milliseconds: (timekeeper.uptime - start).inMilliseconds)
            summary.preparationMilliseconds = known.lead?.preparation.inMilliseconds
            summary.queueMilliseconds = known.lead?.queue.inMilliseconds
            summary.sentBytes = request.httpBody?.count
            summary.receivedBytes = reply?.body.count
            summary.requestID = reply.flatMap { Self.requestID(of: $0, issued) }
            summary.traceParent = known.parent
            return summary
        }
        do {
            let limit = configuration.retry.attemptTimeout.inWords
            let reply = try await withDeadline(
                end - start, timekeeper,
                expired: { TransportError(.timedOut, "The server did not answer within \(limit).") },
                { [transport, bodyLimit = configuration.bodyLimit] in
                    try await transport.sent(
                        request, bodyLimit: bodyLimit, serving: call.stage, of: call.trace.number)
                })
            note(reply)
            call.trace.send(.exchanged(summary(reply)))
            return reply
        } catch {
            let code = ContentKeyError(error, stage: call.stage, otherwise: .integrationFailed).code
            note(nil, code: code)
            call.trace.send(.unanswered(summary(nil), code: code))
            throw error
        }
    }

    /// In bytes; an SPC is longer, and the recorded part of it contains none.
    private static let longestCredential = 4_096

    /// The ID by which a reply names its request; `nil` for a value that is too long for one, or that holds a sent secret.
    private static func requestID(of reply: HTTPReply, _ issued: IssuedCredentials) -> String? {
        let names = ["x-request-id", "x-correlation-id", "x-ms-request-id", "x-amzn-requestid"]
        guard let id = names.lazy.compactMap({ reply.header($0) }).first, 1...64 ~= id.utf8.count,
            id.utf8.allSatisfy({ 0x21...0x7e ~= $0 }), SecretForms(issued.secrets).scrubbed(id) == id
        else { return nil }
        return id
    }

    /// The address of a redirect without its query: the server wrote it, and it may hold a secret under any name.
    private static func shownAddress(of request: URLRequest, _ issued: IssuedCredentials) -> String {
        let address = Redaction.standard.redacted(urlText: request.url?.absoluteString ?? "")
        return SecretForms(issued.secrets).scrubbed(String(address.prefix { $0 != "?" }))
    }
}
