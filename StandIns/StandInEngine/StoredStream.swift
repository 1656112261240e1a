public import Foundation
public import LatchkeyCore
import LatchkeyPlayback

/// A downloaded stream on disk: the files of a local copy, and a list of them.
public struct StoredStream: Codable, Sendable {
    private static let name = "stream.json"

    private struct Track: Codable {
        let name: String
        let container: ContainerKind
        let segments: [Segment]
    }

    private struct Segment: Codable {
        let file: String
        let initialization: String?
        let duration: Double
        let method: String?
        let keyURIs: [KeyURI]
        let isDiscontinuous: Bool
    }

    private let tracks: [Track]

    /// Downloads a stream.
    /// - Parameters:
    ///   - address: the address of a playlist.
    ///   - folder: the folder for the files. Created if it does not exist.
    ///   - stage: the stage, which loads the media.
    ///   - ask: provides the keys that the stream names. Errors are rethrown.
    /// - Returns: the duration of the stream in seconds.
    @discardableResult
    public static func download(
        _ address: String, to folder: URL, on stage: StandInStage,
        asking ask: @Sendable ([KeyURI]) async throws -> Void
    ) async throws -> Double {
        let copy = try await StreamDownload(stage.resources).copy(address, into: folder)
        if !copy.keyURIs.isEmpty { try await ask(copy.keyURIs) }
        try JSONEncoder().encode(Self(copy)).write(to: folder.appending(path: name), options: .atomic)
        return copy.tracks.first?.segments.reduce(0) { $0 + $1.duration } ?? 0
    }

    private init(_ copy: LocalCopy) {
        tracks = copy.tracks.map { track in
            Track(
                name: track.name, container: track.container,
                segments: track.segments.map {
                    Segment(
                        file: $0.file, initialization: $0.initialization, duration: $0.duration,
                        method: $0.method?.rawValue, keyURIs: $0.keyURIs, isDiscontinuous: $0.isDiscontinuous)
                })
        }
    }

    /// The stream in a folder; `nil` if absent.
    static func read(from folder: URL) throws -> StoredStream? {
        guard let list = try? Data(contentsOf: folder.appending(path: name)) else { return nil }
        return try JSONDecoder().decode(Self.self, from: list)
    }

    func copy(in folder: URL) -> LocalCopy {
        LocalCopy(
            directory: folder,
            tracks: tracks.map { track in
                LocalTrack(
                    name: track.name, container: track.container,
                    segments: track.segments.map {
                        LocalSegment(
                            file: $0.file, initialization: $0.initialization, duration: $0.duration,
                            method: $0.method.flatMap(LocalSegment.Encryption.init), keyURIs: $0.keyURIs,
                            isDiscontinuous: $0.isDiscontinuous)
                    })
            })
    }
}
