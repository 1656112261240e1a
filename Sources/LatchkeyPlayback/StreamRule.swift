public import Foundation
import LatchkeyCore
public import LatchkeyHLS

/// A rule that Apple's players apply to a FairPlay stream. A decoder applies few of them, so a stream that it plays may still
/// fail in a player.
///
/// A rule that a player is known to enforce is an error, and so is a specification's *must* whose enforcement is unknown. A
/// violation that a player is known to tolerate, and a *should*, is a warning. `Documentation/Media.md` §13 has the table.
public struct StreamRule: Sendable {
    /// A stable name.
    public let code: String
    /// Whether a violation is an error or an oddity.
    public let severity: Severity
    /// The requirement.
    public let requirement: String
    /// The source: a public page, and a section if the page has several.
    public let source: String
    /// The known behavior of a player with a stream that breaks the rule.
    public let player: String
    /// The remedy, in one sentence.
    public let remedy: String
    let check: Check

    /// The severity of a violation.
    public enum Severity: String, Sendable, Hashable {
        /// The stream does not play on Apple's devices, or cannot be relied on to play.
        case error
        /// The stream plays with problems.
        case warning
    }

    /// The check of a rule. Each returns its observation, or `nil`.
    enum Check: Sendable {
        /// Checks a segment under a FairPlay key, and its init section.
        case segment(@Sendable (SegmentFacts) -> String?)
        /// Checks a playlist; the observation includes the line.
        case playlist(@Sendable (PlaylistFacts) -> (line: Int?, what: String)?)
        /// Checked during download, for a segment whose container is hidden by encryption.
        case download
    }

    /// All rules.
    public static let all = containers + playlists

    /// The rule as a row of the page.
    package var row: String { "| `\(code)` | \(severity.rawValue) | \(requirement) | \(source) | \(player) |" }
}

/// A rule that a stream breaks.
public struct StreamFinding: Sendable, Hashable {
    /// The rule.
    public let rule: StreamRule
    /// The observation, as a clause.
    public let what: String
    /// The line of the playlist, counted from 1; `nil` if the finding concerns no single line.
    public var line: Int?
}

extension StreamRule: Hashable {
    public static func == (one: Self, other: Self) -> Bool { one.code == other.code }

    public func hash(into hasher: inout Hasher) { hasher.combine(code) }
}

/// The statements of a segment under a FairPlay key, and related facts.
struct SegmentFacts: Sendable {
    let container: ContainerKind
    /// The tracks of fragmented MP4; empty if its init section is missing.
    private(set) var tracks: [TrackProtection] = []
    /// The program of a transport stream; `nil` if it cannot be read.
    private(set) var program: TransportProgram?
    /// The beginning of packed audio.
    private(set) var tag = Data()
    /// Whether fragmented MP4 has no init section.
    private(set) var lacksInitialization = false
    /// The IV of the license, 16 bytes; `nil` without a license.
    var licensedIV: Data?

    /// - Parameters:
    ///   - initialization: the init section; `nil` if there is none, or if the segment's file contains it.
    ///   - isCut: whether the segment may end inside a box.
    /// - Throws: `Diagnosis` `malformedMedia`, `unsupportedSampleGroups`.
    init(_ segment: Data, initialization: Data?, in container: ContainerKind, isCut: Bool = false) throws {
        self.container = container
        switch container {
        case .fragmentedMP4:
            let isWhole = try initialization == nil && ISOBoxes(segment).boxes().contains { $0.type == "moov" }
            lacksInitialization = initialization == nil && !isWhole
            if let head = initialization ?? (isWhole ? segment : nil) {
                tracks = try TrackProtection.read(initialization: head, segment: segment, isCut: isCut)
            }
        case .transportStream: program = TransportProgram(segment)
        case .packedAudio: tag = segment.prefix(Self.tagBytes)
        }
    }

    init(_ segment: LocalSegment, in container: ContainerKind, from files: WorkingFiles, isCut: Bool = false) throws {
        let initialization = try segment.initialization.map(files.read)
        try self.init(files.read(segment.file), initialization: initialization, in: container, isCut: isCut)
    }

    /// Whether the media is encrypted, as its container states; `nil` if not stated.
    var isEncrypted: Bool? {
        switch container {
        case .fragmentedMP4: tracks.isEmpty ? nil : tracks.contains { $0.scheme != nil }
        case .transportStream: program?.isEncrypted
        case .packedAudio: hasTag("audioDescription") ? true : nil
        }
    }

    /// Whether packed audio has one of Apple's private frames.
    func hasTag(_ name: String) -> Bool { tag.range(of: Data("com.apple.streaming.\(name)".utf8)) != nil }

    /// The rules that the segment breaks.
    var findings: [StreamFinding] {
        StreamRule.all.compactMap { rule in
            guard case .segment(let broken) = rule.check, let what = broken(self) else { return nil }
            return StreamFinding(rule: rule, what: what)
        }
    }

    private static let tagBytes = 64 << 10
}

/// A playlist, and the durations that it states.
struct PlaylistFacts: Sendable {
    let playlist: Playlist
    let timing: PlaylistTiming
}

extension Playlist {
    /// The rules that the playlist breaks, in the order of the table.
    public var findings: [StreamFinding] {
        let facts = PlaylistFacts(playlist: self, timing: timing)
        return StreamRule.playlists.compactMap { rule in
            guard case .playlist(let broken) = rule.check, let found = broken(facts) else { return nil }
            return StreamFinding(rule: rule, what: found.what, line: found.line)
        }
    }
}

extension StreamFinding {
    /// The rules that media breaks, without a playlist: fragmented MP4 with an init section or only an init section, a
    /// transport stream, packed audio.
    /// - Throws: `Diagnosis` `unsupportedContainer`, `malformedMedia`, `unsupportedSampleGroups`.
    public static func all(inMedia bytes: Data, named name: String) throws -> [StreamFinding] {
        guard let container = ContainerKind(segment: bytes) else { throw Diagnosis.unsupportedContainer(name) }
        return try SegmentFacts(bytes, initialization: nil, in: container).findings
    }
}
