import Foundation
public import LatchkeyPlayback

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// Loads playlists and media for stand-ins: from http and https with URLSession, and from files.
public struct StandInResources: ResourceFetching {
    /// Makes one; it keeps nothing.
    public init() {}

    public func resource(at address: String, range: Range<Int>?, limit: Int) async throws -> FetchedResource {
        guard let url = URL(string: address), ["http", "https"].contains(url.scheme?.lowercased()) else {
            return try await FileResources().resource(at: address, range: range, limit: limit)
        }
        var request = URLRequest(url: url, timeoutInterval: 30)
        if let range {
            request.setValue("bytes=\(range.lowerBound)-\(range.upperBound - 1)", forHTTPHeaderField: "Range")
        }
        let (body, response) = try await URLSession.shared.reply(to: request)
        let status = (response as? HTTPURLResponse)?.statusCode ?? 0
        let final = response.url?.absoluteString ?? address
        switch (status, range) {
        case (200, nil), (206, _?): return FetchedResource(bytes: body, address: final)
        case (200, let range?):
            return FetchedResource(
                bytes: Data(body.dropFirst(range.lowerBound).prefix(range.count)), address: final)
        default:
            // What AVFoundation shows for a playlist that a server does not give.
            throw NSError(
                domain: "CoreMediaErrorDomain", code: -12660,
                userInfo: [NSLocalizedDescriptionKey: "HTTP status \(status)."])
        }
    }
}
