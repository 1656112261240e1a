import Foundation
import LatchkeyCore
import LatchkeyTesting
import Testing

@_spi(Adapters) @testable import Latchkey

@Suite(.timeLimit(.minutes(5))) struct OfflineIndexTests {
    /// The form of version 1 on the disk; a change here needs a new version.
    private static let golden = """
        {"assets":[{"id":"movie","keys":["skd://host/audio","skd://host/sd"]}],\
        "keys":[{"firstPlayed":1767225700,"item":"0123456789abcdef.key","playback":172800,"renewed":1767225650,\
        "storage":2592000,"stored":1767225650,"uri":"skd://host/sd"}],"latest":1767225700.5,"version":1}
        """

    @Test func `version 1 is read and written as always`() throws {
        let index = try OfflineIndex(file: Secret(Self.golden))
        #expect(index.assets == ["movie": [audio, sd]])
        let key = try #require(index.keys[sd])
        #expect(key.item.rawValue == "0123456789abcdef.key")
        #expect(key.storage == 2_592_000)
        #expect(key.firstPlayed == Date(timeIntervalSince1970: 1_767_225_700))
        #expect(try index.file().revealedText == Self.golden)
    }

    // A file that is damaged, or from another program.
    @Test(arguments: ["1e300", "9223372036854775808", "-1e300"], ["1e300", "-1e300", "1767225650"])
    func `a window or a date of any size is listed`(_ window: String, _ date: String) throws {
        let text = Self.golden.replacing("2592000", with: window).replacing("172800", with: window)
            .replacing("1767225700.5", with: date).replacing("1767225650", with: date)
        let index = try OfflineIndex(file: Secret(text))
        let now = Date(timeIntervalSince1970: 1_767_225_700)
        #expect(index.list(at: now).count == 1)
        #expect(index.key(sd, at: now).remaining.map { $0 >= .zero && $0 <= .longest } == true)
        #expect(index.nextEnd(after: now).map { $0 <= .longest } != false)
    }

    @Test func `a newer version is an error that keeps the keys`() async throws {
        let harness = OfflineHarness()
        try await harness.download("movie", [sd])
        let before = harness.store.contents
        harness.store.put(Secret(#"{"version":2,"shelves":[]}"#), at: .index)
        let next = OfflineHarness(after: harness)
        let error = await #expect(throws: OfflineError.self) { try await next.offline.assets() }
        #expect(error?.kind == .keyIndexTooNew)
        await #expect(throws: OfflineError.self) { try await next.offline.register("sequel", keys: [hd]) }
        #expect(harness.store.contents.keys == before.keys)
    }

    @Test func `an index cut at any byte is an error that keeps the keys`() async throws {
        let harness = OfflineHarness()
        try await harness.download("movie", [sd])
        let (before, index) = (harness.store.contents, try #require(harness.store.contents[.index]).revealed)
        for length in 0..<index.count {
            harness.store.put(Secret(index.prefix(length)), at: .index)
            let error = await #expect(throws: OfflineError.self) {
                try await OfflineHarness(after: harness).offline.assets()
            }
            #expect(error?.kind == .keyIndexDamaged)
        }
        #expect(harness.store.contents.keys == before.keys)
        harness.store.put(Secret(index), at: .index)
        #expect(try await OfflineHarness(after: harness).offline.storedKey(for: sd) == stored())
    }

    @Test func `deleting everything repairs a damaged index`() async throws {
        let harness = OfflineHarness()
        try await harness.download("movie", [sd])
        harness.store.put(Secret("{"), at: .index)
        let next = OfflineHarness(after: harness)
        #expect(try await next.offline.deleteAll().isEmpty)
        #expect(next.store.contents.isEmpty)
        try await next.download("movie", [sd])
        #expect(try await next.state() == .stored)
    }

    @Test(arguments: ["../escape.key", "a/b", "", ".hidden", String(repeating: "a", count: 65), "ä"])
    func `a name outside the folder makes the index damaged`(_ name: String) {
        let text = Self.golden.replacingOccurrences(of: "0123456789abcdef.key", with: name)
        let error = #expect(throws: OfflineError.self) { try OfflineIndex(file: Secret(text)) }
        #expect(error?.kind == .keyIndexDamaged)
    }

    @Test func `leftovers of a crash are removed`() async throws {
        let harness = OfflineHarness()
        try await harness.download("movie", [sd])
        let before = harness.store.contents
        harness.store.put(Secret("left"), at: try #require(StoredItem(rawValue: "left.key")))
        _ = try await OfflineHarness(after: harness).offline.assets()
        #expect(harness.store.contents == before)
    }
}
