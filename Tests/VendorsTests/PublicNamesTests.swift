import Foundation
import Testing

/// The names that an app sees: they exist, and they are Latchkey's alone.
@Suite struct PublicNamesTests {
    @Test func `no public type of Latchkey has the name of a player SDK's type`() throws {
        let ours = try Self.rooms.flatMap { try Repository.types(in: "Sources/\($0)") }
        #expect(ours.contains("VendorIntegration") && ours.contains("ContentKeyLoader"))
        for sdk in try Repository.folders("StandIns") where !["StandInEngine", "StandInPlayers"].contains(sdk) {
            let theirs = try Repository.types(in: "StandIns/\(sdk)")
            #expect(!theirs.isEmpty, "\(sdk)")
            #expect(theirs.intersection(ours).sorted() == [], "\(sdk)")
        }
        let declared = try Repository.types(in: "Scripts/Apple/Players", "swiftinterface")
        #expect(declared.contains("DRMIntegration"))
        #expect(declared.intersection(ours).sorted() == [])
    }

    @Test func `no public type of Latchkey has the name of an Apple type declared here`() throws {
        let ours = try Self.rooms.flatMap { try Repository.types(in: "Sources/\($0)") }
        let swift = try Repository.types(in: "Scripts/Apple/Interfaces", "swiftinterface")
        let headers = try ["SDK", "Players"].flatMap { try Repository.headerTypes(in: "Scripts/Apple/\($0)") }
        #expect(swift.contains("VideoPlayer") && headers.contains("AVContentKeySession"))
        #expect(swift.union(headers).intersection(ours).sorted() == [])
    }

    @Test func `every type member that a page names is public`() throws {
        let members = try Self.members()
        for page in try Repository.files("", "md") {
            #expect(Self.unknown(try Self.lines(of: page), in: #/`+[^`]+`+/#, members) == [], "\(page)")
        }
    }

    @Test func `every type member that a message names is public`() throws {
        let members = try Self.members()
        let every = members.values.reduce(into: Set()) { $0.formUnion($1) }
        for file in try Self.rooms.flatMap({ try Repository.files("Sources/\($0)", "swift") }) {
            let lines = try Self.lines(of: file).map { $0.contains("//") || !$0.contains("\"") ? "" : $0 }
            #expect(Self.unknown(lines, in: #/"[^"]*"/#, members) == [], "\(file)")
            // A member alone, in code voice.
            let alone = lines.flatMap { $0.matches(of: #/`([a-z]+[A-Z]\w*)(?:\(\))?`/#).map { String($0.1) } }
            #expect(alone.filter { !every.contains($0) } == [], "\(file)")
        }
    }

    /// The modules that an app links or that its tests import.
    private static let rooms =
        ["Core", "HLS", "Transport", "Vendors", "", "Support", "Testing", "VirtualTime"].map { "Latchkey\($0)" }
        + ["AVFoundation", "JWPlayer", "THEOplayer", "OpenTV", "TVSDK", "Bitmovin", "ReactNativeVideo"].map {
            "Latchkey\($0)"
        }

    /// The public members of each public type, by the last part of the type's name, as the listings in `API` have them.
    private static func members() throws -> [String: Set<String>] {
        var found: [String: Set<String>] = [:]
        for listing in try Repository.files("API", "txt") where rooms.contains(String(listing.dropFirst(4).dropLast(4)))
        {
            for line in try Repository.text(listing).split(separator: "\n") {
                if let match = line.firstMatch(of: #/^([\w.]+): .*?\b(?:case|var|let|func|typealias) (\w+)/#) {
                    found[last(match.1), default: []].insert(String(match.2))
                } else if let match = line.firstMatch(of: #/^([\w.]+): .*?\binit\b/#) {
                    found[last(match.1), default: []].insert("init")
                } else if let match = line.firstMatch(of: #/\b(?:struct|class|enum|protocol|actor) ([\w.]+)/#) {
                    let parts = match.1.split(separator: ".").map(String.init)
                    found[last(match.1), default: []].formUnion([])
                    if parts.count > 1 { found[parts[parts.count - 2], default: []].insert(parts[parts.count - 1]) }
                }
            }
        }
        return found
    }

    private static func last(_ name: Substring) -> String { String(name.split(separator: ".").last ?? name) }

    private static func lines(of file: String) throws -> [Substring] {
        try Repository.text(file).split(separator: "\n", omittingEmptySubsequences: false)
    }

    /// Each `Type.member` within some spans that is not public, with its line; of a type that no listing has, nothing is known.
    private static func unknown(
        _ lines: [Substring], in spans: some RegexComponent<Substring>, _ members: [String: Set<String>]
    ) -> [String] {
        lines.enumerated().flatMap { index, line in
            line.matches(of: spans).flatMap { span in
                span.output.matches(of: #/(?:^|[^\w.:\/\\(]|[^\\]\()([A-Z]\w+)[.\/]([a-z]\w*)/#).compactMap { name in
                    guard let known = members[String(name.1)], !["swift", "md", "txt"].contains(name.2),
                        !known.contains(String(name.2))
                    else { return nil }
                    return "\(index + 1): \(name.1).\(name.2)"
                }
            }
        }
    }
}

/// The files of this repository.
private enum Repository {
    private static let root = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../..")
        .standardizedFileURL

    static func text(_ path: String) throws -> String {
        try String(contentsOf: root.appending(path: path), encoding: .utf8)
    }

    static func folders(_ path: String) throws -> [String] {
        try FileManager.default.contentsOfDirectory(at: root.appending(path: path), includingPropertiesForKeys: nil)
            .filter(\.hasDirectoryPath).map(\.lastPathComponent)
    }

    /// The files below a folder, hidden folders left out.
    static func files(_ folder: String, _ suffix: String) throws -> [String] {
        let start = folder.isEmpty ? root : root.appending(path: folder)
        let found = FileManager.default.enumerator(
            at: start, includingPropertiesForKeys: nil, options: [.skipsHiddenFiles])
        return try #require(found).compactMap { $0 as? URL }.filter { $0.pathExtension == suffix }
            .map { String($0.path.dropFirst(root.path.count + (root.path.hasSuffix("/") ? 0 : 1))) }
    }

    /// The public types that files below a folder declare outside of other types. An `#if` indents its contents.
    static func types(in folder: String, _ suffix: String = "swift") throws -> Set<String> {
        var found: Set<String> = []
        for file in try files(folder, suffix) {
            var depth = 0
            for line in try text(file).split(separator: "\n") {
                let content = line.drop { $0 == " " }
                if content.hasPrefix("#endif") { depth -= 1 }
                if line.count - content.count <= 4 * depth, let match = content.firstMatch(of: declaration) {
                    found.insert(String(match.1))
                }
                if content.hasPrefix("#if") { depth += 1 }
            }
        }
        return found
    }

    /// The types that the Objective-C headers below a folder declare.
    static func headerTypes(in folder: String) throws -> Set<String> {
        let headers = try files(folder, "h").map { try text($0) }.joined(separator: "\n")
        let pattern = #/(?m)^@(?:interface|protocol) (\w+)|NS_(?:CLOSED_)?(?:ENUM|OPTIONS)\(\w+, (\w+)\)/#
        return Set(headers.matches(of: pattern).compactMap { ($0.1 ?? $0.2).map(String.init) })
    }

    nonisolated(unsafe) private static let declaration =
        #/^(?:@\S+ )*(?:nonisolated )?(?:public|open) (?:\w+ )*?(?:struct|class|enum|protocol|actor|typealias) (\w+)/#
}
