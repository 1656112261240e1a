import Foundation
import LatchkeyCore
import LatchkeyHLS
import Testing

@Suite struct CorpusTests {
    @Test(arguments: Corpus.entries)
    func `a report matches the corpus field by field`(_ entry: Corpus.Entry) throws {
        let report = try JSONEncoder().encode(PlaylistReport(entry.bytes, context: entry.context))
        let object = try #require(JSONSerialization.jsonObject(with: report) as? [String: Any])
        let fields = Corpus.canonical(object)
        for field in Corpus.fields { #expect(fields[field] == entry.expected[field], "\(field)") }
        // None of them is of a live stream that names its next key.
        #expect(object["hintedKey"] is NSNull)
        #expect(Set(object.keys) == Set(Corpus.fields + ["hintedKey"]))
    }

    @Test(arguments: Corpus.entries)
    func `invalid playlists are refused with a typed error`(_ entry: Corpus.Entry) throws {
        let bytes = try entry.bytes
        if entry.mustFail {
            #expect(throws: PlaylistError.self) { try Playlist(bytes, context: entry.context) }
        } else {
            #expect(throws: Never.self) { try Playlist(bytes, context: entry.context) }
        }
    }

    @Test(arguments: Corpus.entries)
    func `a playlist cut at any byte is a playlist or a typed error`(_ entry: Corpus.Entry) throws {
        let bytes = try entry.bytes
        for end in 0..<bytes.count { readAll(of: bytes.prefix(end), entry.context) }
    }

    @Test(arguments: Corpus.entries)
    func `a playlist with flipped bits is a playlist or a typed error`(_ entry: Corpus.Entry) throws {
        let bytes = try entry.bytes
        var generator = SeededGenerator(seed: UInt64(bytes.count))
        for _ in 0..<300 {
            var flipped = bytes
            for _ in 0..<Int.random(in: 1...4, using: &generator) {
                flipped[Int.random(in: 0..<bytes.count, using: &generator)] ^=
                    1 << UInt8.random(in: 0..<8, using: &generator)
            }
            readAll(of: flipped, entry.context)
        }
    }

    /// Reads everything. The counts must be consistent.
    private func readAll(of bytes: Data, _ context: PlaylistContext) {
        do throws(PlaylistError) {
            let playlist = try Playlist(bytes, context: context)
            #expect(playlist.segmentRuns.reduce(0) { $0 + $1.count } == playlist.segmentCount)
            #expect(playlist.kind == .media || playlist.kind == .multivariant)
            let segments = try playlist.segments()
            #expect(segments.count == playlist.segmentCount)
        } catch {
            #expect(!error.code.isEmpty && error.line.map { $0 > 0 } != false)
        }
    }
}
