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
/// Follows up to five redirects. Sends no credentials, so it may request any address in a playlist. It accepts some replies
/// that AVPlayer does not; a `DeliveryWatch` records them.
public struct WebResources: ResourceFetching, PlaylistFetching {
    private let transport: any Transport
    private let playlistLimit: Int
    private let watch: DeliveryWatch?
    private let timeout: TimeInterval = 30

    /// - Parameters:
    ///   - transport: carries the requests.
    ///   - playlistLimit: the maximum size of a playlist, in bytes. Defaults to 16 MiB.
    ///   - watch: records the replies that AVPlayer would not accept. Defaults to `nil`.
    public init(
        transport: any Transport = SystemTransport(), playlistLimit: Int = 16 << 20, watch: DeliveryWatch? = nil
    ) {
        self.transport = transport
        self.playlistLimit = playlistLimit
        self.watch = watch
    }

    /// Whether a text is a network address.
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
                noteRedirect(from: url, to: target)
                url = target
                continue
            }
            guard let bytes = Self.bytes(range, of: reply) else { throw Diagnosis.status(address, reply.status) }
            try check(reply, bytes, range, from: url)
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

    private func noteRedirect(from url: URL, to target: URL) {
        let shown = Diagnosis.shown(url.absoluteString)
        switch (url.scheme?.lowercased(), target.scheme?.lowercased()) {
        case ("https", "http"): watch?.note(.leavesTLS(shown), from: url.host)
        case ("http", "https"): watch?.note(.entersTLS(shown), from: url.host)
        default: break
        }
    }

    /// Records behavior that AVPlayer would not accept.
    /// - Throws: a `Diagnosis` if no player can use the reply.
    private func check(_ reply: HTTPReply, _ bytes: Data, _ range: Range<Int>?, from url: URL) throws {
        let shown = Diagnosis.shown(url.absoluteString)
        let coding = reply.header("Content-Encoding").flatMap { $0.lowercased() == "identity" ? nil : $0.visiblePrefix }
        let isPlaylist = bytes.starts(with: Data("#EXTM3U".utf8))
        if let coding, !isPlaylist, ContainerKind(segment: bytes) == nil {
            throw Diagnosis.encoded(shown, coding)
        }
        if let range {
            if let coding { watch?.note(.rangeEncoded(shown, coding), from: url.host) }
            if reply.status == 200 {
                watch?.note(.rangeIgnored(shown), from: url.host)
            } else if bytes.count != range.count {
                throw Diagnosis.otherRange(shown, bytes.count, range.count)
            } else if reply.header("Content-Length") == nil {
                watch?.note(.rangeWithoutLength(shown), from: url.host)
            }
        }
        guard isPlaylist, !["m3u8", "m3u"].contains(url.pathExtension.lowercased()) else { return }
        let type = reply.header("Content-Type")
        let name = type?.split(separator: ";").first?.lowercased() ?? ""
        guard !["application/", "audio/"].contains(where: { name.hasPrefix($0) }) || !name.hasSuffix("mpegurl") else {
            return
        }
        watch?.note(.unidentified(shown, type?.visiblePrefix), from: url.host)
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

/// The reasons that a playlist or media was not loaded. Addresses are shown without their secrets.
extension Diagnosis {
    fileprivate static func malformed(_ address: String) -> Self {
        Self(code: "malformedAddress", reason: "\(shown(address)) is not a valid URL.", remedy: "Check the address.")
    }

    /// There was no reply; the code is the transport's.
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

    fileprivate static func encoded(_ shown: String, _ coding: String) -> Self {
        Self(
            code: "contentEncoded", reason: "\(shown) came with Content-Encoding \(coding), which was not accepted.",
            remedy:
                "Have the server compress playlists only if the request accepts it (Accept-Encoding: gzip), and never media."
        )
    }

    fileprivate static func otherRange(_ shown: String, _ count: Int, _ wanted: Int) -> Self {
        Self(
            code: "rangeWrong", reason: "\(shown) was asked for \(wanted) bytes and sent \(count) with status 206.",
            remedy: "Compare EXT-X-BYTERANGE with the file's size, and have the server send the range alone.")
    }

    fileprivate static func shown(_ address: String) -> String {
        String(Redaction.standard.redacted(urlText: address).prefix(200))
    }
}

extension String {
    /// The beginning of a header's value, without control characters.
    fileprivate var visiblePrefix: String { String(filter { !$0.isNewline && $0.isASCII }.prefix(60)) }
}
