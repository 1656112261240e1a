import Foundation
public import Latchkey
import LatchkeyCore
public import LatchkeyHLS
public import LatchkeyPlayback
import LatchkeyVendors

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// Loads playlists and media from http and https addresses, and from files.
///
/// Follows up to five redirects. Carries no credentials, so it may go anywhere that a playlist names.
public struct WebResources: ResourceFetching, PlaylistFetching {
    private let transport: any Transport
    private let playlistLimit: Int
    private let timeout: TimeInterval = 30

    /// - Parameters:
    ///   - transport: carries the requests.
    ///   - playlistLimit: the largest playlist, in bytes. Defaults to 16 MiB.
    public init(transport: any Transport = SystemTransport(), playlistLimit: Int = 16 << 20) {
        self.transport = transport
        self.playlistLimit = playlistLimit
    }

    /// Whether a text is an address that goes over the network.
    public static func isAddress(_ text: String) -> Bool {
        ["http://", "https://"].contains { text.lowercased().hasPrefix($0) }
    }

    public func playlist(at uri: String) async throws -> FetchedPlaylist {
        let fetched = try await resource(at: uri, range: nil, limit: playlistLimit)
        return FetchedPlaylist(bytes: fetched.bytes, uri: fetched.address)
    }

    /// - Throws: a `Diagnosis`.
    public func resource(at address: String, range: Range<Int>?, limit: Int) async throws -> FetchedResource {
        guard Self.isAddress(address) else {
            return try await FileResources().resource(at: address, range: range, limit: limit)
        }
        guard let first = URL(string: address) else { throw Diagnosis.malformed(address) }
        var url = first
        for _ in 0...5 {
            let reply = try await reply(from: url, range, limit)
            if (300..<400).contains(reply.status), let next = reply.header("location") {
                guard let target = URL(string: next, relativeTo: url)?.absoluteURL,
                    Self.isAddress(target.absoluteString)
                else { throw Diagnosis.malformed(next) }
                url = target
                continue
            }
            guard let bytes = Self.bytes(range, of: reply) else { throw Diagnosis.status(address, reply.status) }
            return FetchedResource(bytes: bytes, address: url.absoluteString)
        }
        throw Diagnosis.status(address, 310)
    }

    private func reply(from url: URL, _ range: Range<Int>?, _ limit: Int) async throws -> HTTPReply {
        do {
            return try await transport.send(request(url, range), bodyLimit: limit)
        } catch let error as TransportError {
            throw Diagnosis.failed(url.absoluteString, error)
        }
    }

    private func request(_ url: URL, _ range: Range<Int>?) -> URLRequest {
        var request = URLRequest(url: url, timeoutInterval: timeout)
        if let range {
            request.setValue("bytes=\(range.lowerBound)-\(range.upperBound - 1)", forHTTPHeaderField: "Range")
        }
        return request
    }

    /// A server may ignore the range and answer 200 with everything.
    private static func bytes(_ range: Range<Int>?, of reply: HTTPReply) -> Data? {
        switch (reply.status, range) {
        case (200, nil), (206, _?): reply.body
        case (200, let range?): Data(reply.body.dropFirst(range.lowerBound).prefix(range.count))
        default: nil
        }
    }
}

/// Why a playlist or a piece of media was not loaded. Addresses show without their secrets.
extension Diagnosis {
    fileprivate static func malformed(_ address: String) -> Self {
        Self(code: "malformedAddress", reason: "\(shown(address)) is no URL.", remedy: "Check the address.")
    }

    /// No reply came; the code is the transport's.
    fileprivate static func failed(_ address: String, _ error: TransportError) -> Self {
        Self(
            code: error.code, reason: "\(shown(address)) could not be loaded: \(error.reason)",
            remedy: error.kind == .bodyTooLarge ? "Check that it is the right address." : error.remedy)
    }

    fileprivate static func status(_ address: String, _ status: Int) -> Self {
        Self(
            code: "httpStatus", reason: "\(shown(address)) answered with status \(status).",
            remedy: "Check the address, and the token in it if it has one.")
    }

    private static func shown(_ address: String) -> String {
        String(Redaction.standard.redacted(urlText: address).prefix(200))
    }
}
