public import Foundation
public import LatchkeyCore
public import LatchkeyPlayback

/// Plays streams for a stand-in: loads, asks for keys, decrypts and decodes.
public struct StandInPlayback: Sendable {
    private let stage: StandInStage

    /// - Parameter stage: loads the media and gives the time.
    public init(on stage: StandInStage) { self.stage = stage }

    /// What came of playing a stream.
    public struct Result: Sendable {
        /// The keys that the stream needed, in the order of their first use.
        public let keyURIs: [KeyURI]
        /// From asking for the first key to having the last.
        public let timeToKey: Duration
        /// What the decoder made of the media.
        public let playback: PlaybackResult
        /// Whether it came out right, by the stage's reference where it has one.
        public let verdict: PlaybackVerdict
        /// The number of decoded pictures.
        public var frameCount: Int { playback.tracks.first { $0.media == .video }?.frames.count ?? 0 }
        /// Where the picture is; nil where none was asked for.
        public var picture: URL? { playback.picture }
        /// Whether everything that was decoded is right.
        public var isRight: Bool { verdict.isRight }
    }

    /// A stream that is loaded and whose keys are there.
    public struct Loaded: Sendable {
        /// The keys that the stream needs, in the order of their first use.
        public let keyURIs: [KeyURI]
        /// From asking for the first key to having the last.
        public let timeToKey: Duration
        let copy: LocalCopy
        let folder: TemporaryFolder
    }

    /// Loads a stream and asks for all its keys at once.
    /// - Parameters:
    ///   - address: a playlist's http, https or file address, or the folder of a downloaded stream.
    ///   - ask: gets the keys. Playback needs them all; what it throws is thrown on.
    public func load(
        _ address: String, asking ask: @Sendable ([KeyURI]) async throws -> Void
    ) async throws -> Loaded {
        let folder = TemporaryFolder()
        let copy = try await copy(of: address, in: folder)
        let start = stage.timekeeper.uptime
        let uris = copy.keyURIs
        if !uris.isEmpty { try await ask(uris) }
        return Loaded(
            keyURIs: uris, timeToKey: stage.timekeeper.uptime - start, copy: copy, folder: folder)
    }

    /// Decrypts and decodes a loaded stream.
    /// - Parameters:
    ///   - keys: its content keys.
    ///   - picture: where to write one picture as PNG.
    /// - Throws: `PlaybackError`, also without ffmpeg.
    public func play(
        _ loaded: Loaded, keys: [KeyURI: ContentKey], picture: URL? = nil
    ) async throws -> Result {
        let playback = try await StreamPlayer(FFmpeg()).play(loaded.copy, keys: keys, picture: picture)
        return Result(
            keyURIs: loaded.keyURIs, timeToKey: loaded.timeToKey, playback: playback,
            verdict: playback.verdict(against: stage.reference))
    }

    /// Loads and plays a stream whose keys come one by one, all asked for at once.
    /// - Parameters:
    ///   - address: as for `load(_:asking:)`.
    ///   - picture: where to write one picture as PNG.
    ///   - key: gets the key of a URI.
    public func play(
        _ address: String, picture: URL? = nil, key: @escaping @Sendable (KeyURI) async throws -> ContentKey
    ) async throws -> Result {
        let keys = Locked<[KeyURI: ContentKey]>([:])
        let loaded = try await load(address) { uris in
            try await withThrowingTaskGroup(of: Void.self) { group in
                for uri in uris {
                    group.addTask {
                        let content = try await key(uri)
                        keys.withLock { $0[uri] = content }
                    }
                }
                try await group.waitForAll()
            }
        }
        return try await play(loaded, keys: keys.withLock { $0 }, picture: picture)
    }

    private func copy(of address: String, in folder: TemporaryFolder) async throws -> LocalCopy {
        if let url = URL(string: address), url.isFileURL, let stored = try StoredStream.read(from: url) {
            // Players write beside the media; a downloaded stream stays as it is.
            try FileManager.default.copyItem(at: url, to: folder.url)
            return stored.copy(in: folder.url)
        }
        return try await StreamDownload(stage.resources).copy(address, into: folder.url)
    }
}

/// A folder that goes with its last user.
final class TemporaryFolder: Sendable {
    let url = FileManager.default.temporaryDirectory.appending(path: "latchkey-standin-\(UUID().uuidString)")

    deinit { try? FileManager.default.removeItem(at: url) }
}
