public import Foundation
public import LatchkeyCore
import LatchkeyHLS

extension ContentKeyLoader {
    /// The FairPlay keys of a stream, of all playlists of one pathway, session keys first, for `OfflineKeys.register(_:keys:)`.
    ///
    ///     try await offline.register("movie-1", keys: Set(loader.keys(of: url)))
    ///
    /// Playlists are loaded without credentials, unless `LoaderConfiguration.playlist` loads them. All must be readable, because a key
    /// may be missing otherwise.
    /// - Parameters:
    ///   - playlist: the stream's http or https address.
    ///   - limits: how much of the stream may be read.
    /// - Throws: `playlistUnreadable`, or an error of the network, with the address of the playlist; `deadlineExceeded`; `cancelled`.
    public func keys(of playlist: URL, limits: PreloadLimits = .wholeStream) async throws(ContentKeyError) -> [KeyURI] {
        let discovery = StreamDiscovery(
            PlaylistLoader(caller: caller, byteLimit: limits.playlistBytes, trace: trace()), limits, scope: .onePathway)
        let keys = Locked<[KeyURI]>([])
        let outcome = await preloads.run { [timekeeper = caller.timekeeper] in
            let found = try await withDeadline(
                limits.time, timekeeper,
                expired: { ContentKeyError.deadlineExceeded(limits.time, stage: .playlist, after: nil, attempts: 1) },
                { try await Self.keys(discovery, at: playlist, limits.keys) })
            keys.withLock { $0 = found }
        }
        do {
            try outcome.get()
        } catch {
            throw ContentKeyError(error, stage: .playlist, otherwise: .playlistUnreadable)
        }
        return keys.withLock { $0 }
    }

    private static func keys(_ discovery: StreamDiscovery, at playlist: URL, _ limit: Int) async throws -> [KeyURI] {
        var keys: [KeyURI] = []
        var known: Set<KeyURI> = []
        for await found in discovery.keys(at: playlist.absoluteString) {
            switch found {
            case .keys(let new): keys += new.filter { known.insert($0).inserted }
            case .unread(let error): throw error
            }
        }
        try Task.checkCancellation()
        guard keys.count <= limit else {
            throw ContentKeyError(
                .playlistUnreadable, stage: .playlist, "The stream names \(keys.count) keys, more than \(limit).",
                remedy: "Raise the limit of keys if the stream really has that many.")
        }
        return keys
    }
}

extension PreloadLimits {
    /// Limits for reading a whole stream: 10,000 keys, 200 playlists of 16 MiB at most, 60 s.
    public static let wholeStream = PreloadLimits(keys: 10_000, playlists: 200, time: .seconds(60))
}
