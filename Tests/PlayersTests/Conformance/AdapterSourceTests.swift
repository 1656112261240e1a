import Foundation
import LatchkeyVendors
import Testing

/// How large the adapters are, and that they and the vendors do not know each other.
@Suite struct AdapterSourceTests {
    private static let limit = 400

    private static let root = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

    /// What is left of a file's lines without comments and blank lines.
    private static func code(of file: URL) throws -> [Substring] {
        try String(contentsOf: file, encoding: .utf8).split(separator: "\n").filter { line in
            let text = line.drop { $0 == " " }
            return !text.isEmpty && !text.hasPrefix("//")
        }
    }

    private static func files(in folder: String) throws -> [URL] {
        let all = FileManager.default.enumerator(at: root.appending(path: folder), includingPropertiesForKeys: nil)
        let files = try #require(all).compactMap { $0 as? URL }.filter { $0.pathExtension == "swift" }
        return files.sorted { $0.path < $1.path }
    }

    private static func files(of player: PlayerUnderTest) throws -> [URL] {
        try files(in: "Sources/Players").filter { file in
            player.sources.contains { file.path.contains("/Sources/Players/\($0)") }
        }
    }

    @Test(arguments: PlayerUnderTest.all)
    func `an adapter has fewer than 400 lines of code`(_ player: PlayerUnderTest) throws {
        let lines = try Self.files(of: player).reduce(0) { $0 + (try Self.code(of: $1).count) }
        print("\(player.name): \(lines) lines")
        #expect(lines > 0 && lines < Self.limit)
    }

    @Test func `what several players share has fewer lines than a player's adapter, and nothing is left out`() throws {
        let counted = Set(try PlayerUnderTest.all.flatMap(Self.files(of:)))
        let others = try Self.files(in: "Sources/Players").filter { !counted.contains($0) }
        let names = Set(others.map(\.lastPathComponent))
        #expect(names == ["Exports.swift", "OfflineDownloads.swift", "DownloadListener.swift"])
        let lines = try others.reduce(0) { $0 + (try Self.code(of: $1).count) }
        print("downloads: \(lines) lines")
        #expect(lines < Self.limit)
    }

    @Test func `no adapter names a vendor`() throws {
        let vendors = Set(
            VendorProfile.all.flatMap { [$0.identifier, $0.identifier.prefix { $0 != "-" }.lowercased()] }
        )
        // Words that are no names.
        .subtracting(["generic", "apple", "jw"])
        for file in try Self.files(in: "Sources/Players") {
            let code = try Self.code(of: file).joined(separator: "\n").lowercased()
            #expect(vendors.filter { code.contains($0) }.isEmpty, "\(file.lastPathComponent)")
        }
    }

    @Test func `no vendor names a player`() throws {
        let players = [
            "avfoundation", "avplayer", "jwplayer", "theoplayer", "opentv", "tvsdk", "bitmovin", "reactnative",
        ]
        for file in try Self.files(in: "Sources/Vendors") {
            let code = try Self.code(of: file).joined(separator: "\n").lowercased()
                // A vendor's host.
                .replacingOccurrences(of: "jwplayer.com", with: "")
            #expect(players.filter { code.contains($0) }.isEmpty, "\(file.lastPathComponent)")
        }
    }
}
