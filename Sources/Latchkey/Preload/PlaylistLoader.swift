import Foundation
import LatchkeyCore
import LatchkeyHLS
import LatchkeyTransport
import LatchkeyVendors

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// Loads playlists over http and https, with the app's own loader if it has one: no credentials, few redirects, a limit of bytes, the time
/// of one attempt.
struct PlaylistLoader: PlaylistFetching {
    let caller: ServiceCaller
    /// The largest playlist, in bytes.
    let byteLimit: Int
    let trace: Trace

    func playlist(at uri: String) async throws -> FetchedPlaylist {
        var target = try Target(URL(string: uri))
        for _ in 0...max(0, caller.configuration.redirectLimit) {
            let reply = try await reply(from: target)
            switch (reply.status, reply.header("location")) {
            case (200, _):
                let address = (reply.url ?? target.url).absoluteString
                caller.record?.note(playlist: reply.body, at: address)
                return FetchedPlaylist(bytes: reply.body, uri: address)
            case (301...303, let next?), (307...308, let next?): target = try target.following(next)
            default: throw ContentKeyError.playlistUnreadable("The server answered with status \(reply.status).")
            }
        }
        throw ContentKeyError.playlistUnreadable("The server redirects too often.")
    }

    private func send(_ request: URLRequest) async throws -> HTTPReply {
        guard let load = caller.configuration.playlist, let url = request.url else {
            var reply = try await caller.transport.send(request, bodyLimit: byteLimit)
            // Redirects are handled here.
            reply.url = nil
            return reply
        }
        let (body, response) = try await load(url)
        guard body.count <= byteLimit else {
            throw TransportError(.bodyTooLarge, "The playlist is larger than \(byteLimit) bytes.")
        }
        return HTTPReply(url: response.url, status: (response as? HTTPURLResponse)?.statusCode ?? 200, body: body)
    }

    private func reply(from target: Target) async throws -> HTTPReply {
        let limit = caller.configuration.retry.attemptTimeout
        let permit = try await caller.limiter.permit(for: .sending(to: target.origin))
        defer { permit.release() }
        let start = caller.timekeeper.uptime
        let request = URLRequest(url: target.url, timeoutInterval: limit.inSeconds)
        func summary(_ reply: HTTPReply?) -> KeyEvent.HTTPSummary {
            var summary = KeyEvent.HTTPSummary(
                stage: .playlist, method: "GET", url: ContentKeyError.shown(target.url.absoluteString),
                status: reply?.status, milliseconds: (caller.timekeeper.uptime - start).inMilliseconds)
            summary.receivedBytes = reply?.body.count
            return summary
        }
        do {
            let reply = try await withDeadline(
                limit, caller.timekeeper,
                expired: { TransportError(.timedOut, "The server did not answer within \(limit.inWords).") },
                { try await send(request) })
            trace.send(.exchanged(summary(reply)))
            return reply
        } catch {
            let code = ContentKeyError(error, stage: .playlist, otherwise: .playlistUnreadable).code
            trace.send(.unanswered(summary(nil), code: code))
            throw error
        }
    }
}

/// The address of a playlist.
private struct Target {
    let url: URL
    let origin: Origin

    init(_ url: URL?) throws {
        guard let url, let origin = Origin(url), ["http", "https"].contains(origin.scheme) else {
            throw ContentKeyError.playlistUnreadable("The address is not an http or https URL.")
        }
        (self.url, self.origin) = (url, origin)
    }

    /// A remote server must not make the app connect to the device's own ports.
    func following(_ location: String) throws -> Target {
        let next = try Target(URL(string: location.escapedForURL, relativeTo: url)?.absoluteURL)
        guard !next.origin.isLoopback || origin.isLoopback else {
            throw ContentKeyError.playlistUnreadable("The server redirects to a loopback address.")
        }
        return next
    }
}

extension ContentKeyError {
    static func playlistUnreadable(_ reason: String) -> Self {
        Self(.playlistUnreadable, stage: .playlist, reason, remedy: "Check the playlist's address.")
    }

    /// Why a playlist was not read, with its address.
    init(_ error: any Error, playlist uri: String) {
        self.init(error, stage: .playlist, otherwise: .playlistUnreadable)
        reason = "\(Self.shown(uri)): \(reason)"
    }

    /// A playlist's address without its query, which may hold a token.
    static func shown(_ uri: String) -> String {
        String(Redaction.standard.redacted(urlText: uri).prefix { $0 != "?" }.prefix(200))
    }
}
