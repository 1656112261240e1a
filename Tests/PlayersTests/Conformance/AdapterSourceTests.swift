import Foundation
import LatchkeyVendors
import Testing

/// Rules for the text of the adapters: they and the vendors do not know each other, and an app may take their files.
@Suite struct AdapterSourceTests {
    private static let folders = [
        "AVFoundation", "JWPlayer", "THEOplayer", "OpenTV", "TVSDK", "Bitmovin", "ReactNativeVideo",
    ].map { "Latchkey\($0)" }

    private static let root = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

    /// The lines of a file, without comments and blank lines.
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

    private static func adapterFiles() throws -> [URL] {
        try files(in: "Sources").filter { file in folders.contains { file.path.contains("/Sources/\($0)/") } }
    }

    @Test func `no adapter names a vendor`() throws {
        let vendors = Set(
            VendorProfile.all.flatMap { [$0.identifier, $0.identifier.prefix { $0 != "-" }.lowercased()] }
        )
        // Ordinary words, and this project's name.
        .subtracting(["generic", "apple", "jw", "latchkey"])
        for file in try Self.adapterFiles() {
            let code = try Self.code(of: file).joined(separator: "\n").lowercased()
            #expect(vendors.filter { code.contains($0) }.isEmpty, "\(file.lastPathComponent)")
        }
    }

    @Test func `no vendor names a player`() throws {
        let players = [
            "avfoundation", "avplayer", "jwplayer", "theoplayer", "opentv", "tvsdk", "bitmovin", "reactnative",
        ]
        for file in try Self.files(in: "Sources/LatchkeyVendors") {
            // The evidence of a profile may be a player's connector.
            let code = try Self.code(of: file).filter { !$0.contains(", read: \"20") }
                .joined(separator: "\n").lowercased()
                // A vendor's host.
                .replacingOccurrences(of: "jwplayer.com", with: "")
            #expect(players.filter { code.contains($0) }.isEmpty, "\(file.lastPathComponent)")
        }
    }

    /// An app made with Xcode 26 has the main actor as its default isolation. There a type without `nonisolated` compiles in silence,
    /// and traps when a player calls it from another thread. Code for the main actor is marked.
    @Test func `each declaration at the top of an adapter file states where it runs`() throws {
        let kinds: Set<Substring> = ["class", "struct", "enum", "extension", "protocol", "let", "var", "func"]
        for file in try Self.adapterFiles() {
            var depth = 0
            for line in try Self.code(of: file) {
                let words = line.split(separator: " ")
                if depth == 0, let kind = words.firstIndex(where: kinds.contains) {
                    let isStated = words[..<kind].contains { $0 == "nonisolated" || $0 == "@MainActor" }
                    #expect(isStated, "\(file.lastPathComponent): \(line)")
                }
                let code = line.replacing(#/"(?:\\.|[^"\\])*"|//.*/#, with: "")
                depth += code.count { $0 == "{" } - code.count { $0 == "}" }
            }
            #expect(depth == 0, "\(file.lastPathComponent)")
        }
    }
}
