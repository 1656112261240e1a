import Foundation
import LatchkeyCore
import LatchkeyVendors

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// One attempt's way through the network: its turn, the request, redirects, the reply.
extension ServiceCaller {
    /// A request whose turn has come.
    struct Admitted: Sendable {
        let request: URLRequest
        let slot: HostSlot
        /// When the attempt's time is over.
        let end: Duration
    }

    /// The attempt's request, made and let through to its host.
    ///
    /// The host is known only when the request is there, and the request holds a token that may live seconds. So at most a
    /// host's limit of requests is made ahead of their turn, and one that waited too long is made anew, now that it has a slot.
    func admitted<Value>(
        _ call: Call<Value>, _ issued: IssuedCredentials
    ) async throws(ContentKeyError) -> Admitted {
        let expected = call.expected.flatMap { Origin(configuration.hosts.adapted($0)) }
        let making = try await queue.slot(at: .making(call.stage, for: expected))
        defer { making.release() }
        var slot: HostSlot?
        while true {
            let start = timekeeper.uptime
            let request = try await request(call.stage, issued, trusting: call.trusted, call.makeRequest)
            let made = timekeeper.uptime
            let taken = try await self.slot(for: request, inPlaceOf: slot)
            let waited = timekeeper.uptime - made
            if waited <= configuration.requestPatience {
                let end = start + waited + configuration.retry.attemptTimeout
                return Admitted(request: request, slot: taken, end: end)
            }
            slot = taken
            issued.discard()
        }
    }

    /// A slot of the request's host; the one that is held where it is of that host, and else in place of it.
    ///
    /// The other is given back before, because two requests that each wait for the other's host would wait for ever.
    private func slot(
        for request: URLRequest, inPlaceOf held: HostSlot?
    ) async throws(ContentKeyError) -> HostSlot {
        guard let origin = request.url.flatMap(Origin.init) else {
            throw ContentKeyError(.integrationFailed, "The request has no host.", remedy: "Set the request's URL.")
        }
        if let held, held.place == .sending(origin) { return held }
        held?.release()
        return try await queue.slot(at: .sending(origin))
    }

    func exchange<Value>(
        _ admitted: Admitted, _ call: Call<Value>, _ issued: IssuedCredentials
    ) async throws -> HTTPExchange {
        var (request, slot, end) = (admitted.request, admitted.slot, admitted.end)
        defer { slot.release() }
        var address = issued.forms.scrubbed(request.url.map { integration.redaction.redacted($0) } ?? "")
        for _ in 0...max(0, configuration.redirectLimit) {
            let reply = try await reply(to: request, shownAs: address, call, until: end)
            let redirect = try Redirect(
                of: request, by: reply, hosts: configuration.hosts,
                configured: integration.configuredURLs + call.trusted, issued: issued)
            guard let redirect else { return HTTPExchange(request: request, reply: reply) }
            request = redirect.request
            address = Self.shownAddress(of: request, issued)
            call.report(.redirected(to: address, credentialsDropped: redirect.dropsCredentials))
            let start = timekeeper.uptime
            slot = try await self.slot(for: request, inPlaceOf: slot)
            end += timekeeper.uptime - start
        }
        throw ContentKeyError(
            .redirectRefused, "The service redirects more than \(configuration.redirectLimit) times.",
            remedy: "Configure the URL that the service redirects to.")
    }

    private func reply<Value>(
        to request: URLRequest, shownAs address: String, _ call: Call<Value>, until end: Duration
    ) async throws -> HTTPReply {
        let start = timekeeper.uptime
        func summary(_ status: Int?) -> KeyEvent.HTTPSummary {
            KeyEvent.HTTPSummary(
                stage: call.stage, method: request.httpMethod ?? "GET", url: address, status: status,
                milliseconds: (timekeeper.uptime - start).inMilliseconds)
        }
        do {
            let limit = configuration.retry.attemptTimeout.inMilliseconds
            let reply = try await withDeadline(
                end - start, timekeeper,
                expired: { TransportError(.timedOut, "The server did not answer within \(limit) ms.") },
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

    /// The address of a redirect without its query: the server wrote that, and under any name it may hold a secret.
    private static func shownAddress(of request: URLRequest, _ issued: IssuedCredentials) -> String {
        let address = Redaction.standard.redacted(urlText: request.url?.absoluteString ?? "")
        return SecretForms(issued.secrets).scrubbed(String(address.prefix { $0 != "?" }))
    }
}
