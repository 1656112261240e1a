public import Foundation
public import LatchkeyCore
public import LatchkeyPlayback

/// Plays streams for a stand-in: loads them, requests keys, decrypts and decodes.
public struct StandInPlayback: Sendable {
    private let stage: StandInStage

    /// - Parameter stage: the stage, which loads the media and has the clock.
    public init(on stage: StandInStage) { self.stage = stage }

    /// The result of playing a stream.
    public struct Result: Sendable {
        /// The keys that the stream needed, in order of first use.
        public let keyURIs: [KeyURI]
        /// The time from requesting the first key to having the last one.
        public let timeToKey: Duration
        /// The decoder's output.
        public let playback: PlaybackResult
        /// Whether the output is right, based on the stage's reference hashes if available.
        public let verdict: PlaybackVerdict
        /// The number of decoded pictures.
        public var frameCount: Int { playback.tracks.first { $0.media == .video }?.frames.count ?? 0 }
        /// The file of the picture; `nil` if none was requested.
        public var picture: URL? { playback.picture }
        /// Whether all decoded output is right.
        public var isRight: Bool { verdict.isRight }
    }

    /// A loaded stream that has its keys.
    public struct Loaded: Sendable {
        /// The keys that the stream needs, in order of first use.
        public let keyURIs: [KeyURI]
        /// The time from requesting the first key to having the last one.
        public let timeToKey: Duration
        /// The duration of the stream in seconds; `nil` if it has no end here.
        public var seconds: Double? {
            copy.isComplete ? copy.tracks.first?.segments.map(\.duration).reduce(0, +) : nil
        }
        let copy: LocalCopy
        let folder: WorkingFolder
    }

    /// Loads a stream and requests all its keys together.
    /// - Parameters:
    ///   - address: the http, https or file URL of a playlist, or the folder of a downloaded stream.
    ///   - ask: provides the keys. Playback needs all of them. Errors are rethrown.
    public func load(
        _ address: String, asking ask: @Sendable ([KeyURI]) async throws -> Void
    ) async throws -> Loaded {
        let folder = try WorkingFolder()
        let copy = try await copy(of: address, in: folder)
        let start = stage.timekeeper.uptime
        let uris = copy.keyURIs
        if !uris.isEmpty { try await ask(uris) }
        return Loaded(
            keyURIs: uris, timeToKey: stage.timekeeper.uptime - start, copy: copy, folder: folder)
    }

    /// Decrypts and decodes a loaded stream.
    /// - Parameters:
    ///   - keys: the content keys.
    ///   - picture: the file for one picture in PNG format.
    /// - Throws: a `Diagnosis`, also if ffmpeg is missing.
    public func play(
        _ loaded: Loaded, keys: [KeyURI: ContentKey], picture: URL? = nil
    ) async throws -> Result {
        let decode: @Sendable () async throws -> PlaybackResult = {
            // The files are removed with their last owner.
            defer { withExtendedLifetime(loaded.folder) {} }
            return try await StreamPlayer(FFmpeg()).play(loaded.copy, keys: keys, picture: picture)
        }
        // A picture is a file, which is not in the decoding memory.
        let playback =
            if let decodings = stage.decodings, picture == nil {
                try await decodings.result(of: loaded.copy, keys: keys, decode: decode)
            } else {
                try await decode()
            }
        return Result(
            keyURIs: loaded.keyURIs, timeToKey: loaded.timeToKey, playback: playback,
            verdict: playback.verdict(against: stage.reference))
    }

    /// Loads and plays a stream. Requests each key separately, in parallel.
    /// - Parameters:
    ///   - address: as for `load(_:asking:)`.
    ///   - picture: the file for one picture in PNG format.
    ///   - key: provides the key for a URI.
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

    private func copy(of address: String, in folder: WorkingFolder) async throws -> LocalCopy {
        if let url = URL(string: address), url.isFileURL, let stored = try StoredStream.read(from: url) {
            // Players write files into the folder of the media, but a downloaded stream must stay unchanged.
            try FileManager.default.copyItem(at: url, to: folder.url)
            return stored.copy(in: folder.url)
        }
        return try await StreamDownload(stage.resources).copy(address, into: folder.url)
    }
}
