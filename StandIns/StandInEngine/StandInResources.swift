import Foundation
public import LatchkeyPlayback

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// Loads playlists and media for stand-ins over http and https, and from files.
public struct StandInResources: ResourceFetching {
    /// Makes a loader without state.
    public init() {}

    public func resource(at address: String, range: Range<Int>?, limit: Int) async throws -> FetchedResource {
        guard let url = URL(string: address), ["http", "https"].contains(url.scheme?.lowercased()) else {
            return try await FileResources().resource(at: address, range: range, limit: limit)
        }
        var request = URLRequest(url: url, timeoutInterval: 30)
        if let range {
            request.setValue("bytes=\(range.lowerBound)-\(range.upperBound - 1)", forHTTPHeaderField: "Range")
        }
        // A server that ignores the range sends everything.
        let reply = try await StandInNetwork.reply(to: request, limit: max(limit, min(range?.upperBound ?? 0, 1 << 28)))
        switch (reply.status, range) {
        case (200, nil), (206, _?): return FetchedResource(bytes: reply.body, address: reply.url)
        case (200, let range?):
            return FetchedResource(
                bytes: Data(reply.body.dropFirst(range.lowerBound).prefix(range.count)), address: reply.url)
        default:
            // AVFoundation's error for a playlist that a server does not deliver.
            throw NSError(
                domain: "CoreMediaErrorDomain", code: -12660,
                userInfo: [NSLocalizedDescriptionKey: "HTTP status \(reply.status)."])
        }
    }
}
