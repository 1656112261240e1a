import Foundation
import LatchkeyCore
import LatchkeyPlayback

/// The results of decoding, for tests that play the same stream with the same keys many times.
///
/// The same encrypted bytes and the same keys always decode to the same result, so their first result is used for all. With
/// another byte or another key, the stream is decoded again. Failures are not remembered. Safe to use from any thread.
public final class DecodingMemory: Sendable {
    /// The whole input of a decoder.
    fileprivate struct Input: Hashable {
        struct Segment: Hashable {
            let bytes: Data
            let initialization: Data?
            let duration: Double
            let method: LocalSegment.Encryption?
            let key: ContentKey?
            let isDiscontinuous: Bool
        }

        struct Track: Hashable {
            let name: String
            let container: ContainerKind
            let segments: [Segment]
        }

        let tracks: [Track]
        let isComplete: Bool
    }

    private let limit: Int
    private let decodings = Locked<[Input: Task<PlaybackResult, any Error>]>([:])

    /// - Parameter limit: the number of streams to remember, with all their bytes. Further ones are decoded each time.
    public init(limit: Int = 32) { self.limit = limit }

    /// The result for an input. Decodes it the first time.
    func result(
        of copy: LocalCopy, keys: [KeyURI: ContentKey],
        decode: @escaping @Sendable () async throws -> PlaybackResult
    ) async throws -> PlaybackResult {
        let input = try Input(copy, keys)
        let task: Task<PlaybackResult, any Error>? = decodings.withLock { decodings in
            if let known = decodings[input] { return known }
            guard decodings.count < limit else { return nil }
            // Never cancelled, because others may wait for its result.
            let task = Task { try await decode() }
            decodings[input] = task
            return task
        }
        guard let task else { return try await decode() }
        do { return try await task.value } catch {
            decodings.withLock { decodings in if decodings[input] == task { decodings[input] = nil } }
            throw error
        }
    }
}

extension DecodingMemory.Input {
    fileprivate init(_ copy: LocalCopy, _ keys: [KeyURI: ContentKey]) throws {
        func bytes(_ name: String) throws -> Data { try Data(contentsOf: copy.directory.appending(path: name)) }
        tracks = try copy.tracks.map { track in
            Track(
                name: track.name, container: track.container,
                segments: try track.segments.map { segment in
                    Segment(
                        bytes: try bytes(segment.file), initialization: try segment.initialization.map(bytes),
                        duration: segment.duration, method: segment.method,
                        key: segment.keyURIs.lazy.compactMap { keys[$0] }.first,
                        isDiscontinuous: segment.isDiscontinuous)
                })
        }
        isComplete = copy.isComplete
    }
}
