import Foundation
import LatchkeyCore

/// Parses a playlist line by line. Keeps its partial results, so that a report on a refused playlist can include them.
struct PlaylistReader {
    let context: PlaylistContext
    var keyTags: [KeyTag] = []
    private(set) var sessionKeyTags: [KeyTag] = []
    private(set) var streams: [StreamEntry] = []
    /// PATHWAY-ID of EXT-X-CONTENT-STEERING.
    private(set) var firstPathway: String?
    var interstitials: [Interstitial] = []
    var hintedKey: KeyHint?
    var skippedSegments = 0
    var inherited = InheritedKeys()
    var variables: Substitution
    var warnings: WarningList
    private(set) var mediaSequence = 0
    private(set) var isComplete = false
    private(set) var hasOnlyIFrames = false
    var inForce = KeysInForce()
    private var isMedia = false
    private var isMultivariant = false
    private var hasHeader = false
    /// The index of the variant whose URI line comes next.
    private var openVariant: Int?
    private var firstImport: Int?
    private var sessionKeys: Set<KeyTag> = []

    var limits: PlaylistLimits { context.limits }
    var segmentCount: Int { kind == .multivariant ? 0 : inForce.segments }
    /// The keys in force after the last segment.
    var keysAtEnd: [Int] { kind == .multivariant ? [] : inForce.indexes }
    var segmentRuns: [SegmentRun] { kind == .multivariant ? [] : inForce.runs }

    var kind: PlaylistKind {
        switch (isMedia, isMultivariant) {
        case (true, true): .mixed
        case (true, false): .media
        case (false, true): .multivariant
        case (false, false): .unknown
        }
    }

    init(_ context: PlaylistContext) {
        self.context = context
        variables = Substitution(limits: context.limits)
        warnings = WarningList(limit: context.limits.warnings)
    }

    /// Parses all lines. Returns the reason for a refusal; `nil` if the playlist is valid.
    mutating func read(_ data: Data) -> PlaylistError? {
        guard data.count <= limits.totalBytes else { return .limit("bytes", limits.totalBytes) }
        let refusal = data.withUnsafeBytes { bytes -> PlaylistError? in
            do throws(PlaylistError) {
                try readLines(bytes)
                return nil
            } catch {
                return error
            }
        }
        inForce.endRun()
        if let openVariant { warnAboutVariant(openVariant) }
        if let refusal, [.notUTF8, .compressed, .limitExceeded].contains(refusal.kind) { return refusal }
        guard hasHeader else { return PlaylistError(.missingHeader, line: 1, "the first line is not #EXTM3U") }
        return refusal ?? refusalAsAWhole
    }

    private var refusalAsAWhole: PlaylistError? {
        switch kind {
        case .mixed: PlaylistError(.mixedKinds, "it has tags of media and of multivariant playlists")
        case .unknown: PlaylistError(.unknownKind, "it has no tag of a media or a multivariant playlist")
        case .multivariant:
            firstImport.map {
                PlaylistError(.importInMultivariant, line: $0, "EXT-X-DEFINE:IMPORT in a multivariant playlist")
            }
        case .media: nil
        }
    }

    private mutating func readLines(_ bytes: Bytes) throws(PlaylistError) {
        var lines = LineScanner(bytes)
        try readHeader(lines.next())
        // If the first line is not the header, it is parsed like any other line, so that the report can identify the file.
        if !hasHeader { lines = LineScanner(bytes) }
        let limit = limits.lineBytes
        while let line = lines.next() {
            guard line.count <= limit else { throw .limit("bytes in a line", limit, line: lines.number) }
            let isPlain = line.isPlain
            if !isPlain { try inspect(line, lines.number) }
            if line.byte(at: 0) != UInt8(ascii: "#") {
                try readURI(line, isPlain: isPlain, lines.number)
            } else if let (tag, body) = PlaylistTag.of(line) {
                try readTag(tag, line.from(body), isPlain: isPlain, lines.number)
            }
        }
    }

    /// HLS.md rules 1 and 2.
    private mutating func readHeader(_ line: Bytes?) throws(PlaylistError) {
        if let line, line.hasPrefix("\u{FEFF}") {
            throw PlaylistError(.notUTF8, line: 1, "it starts with a byte order mark")
        }
        if let line, line.count > 1, line.byte(at: 0) == 0x1f, line.byte(at: 1) == 0x8b {
            throw PlaylistError(.compressed, line: 1, "it is compressed by gzip")
        }
        hasHeader = line?.hasPrefix("#EXTM3U") == true && (line?.count == 7 || line?.byte(at: 7).isBlank == true)
        if !hasHeader { warnings.add("first line is not #EXTM3U") }
        if hasHeader, line?.count != 7 { warnings.add("text behind #EXTM3U", line: 1) }
    }

    /// HLS.md rule 1, for a line that is not plain ASCII.
    private mutating func inspect(_ line: Bytes, _ number: Int) throws(PlaylistError) {
        guard let text = String(bytes: line, encoding: .utf8) else {
            throw PlaylistError(.notUTF8, line: number, "it is not UTF-8")
        }
        let hasControl = text.unicodeScalars.contains { $0.value < 0x20 || (0x7f...0x9f).contains($0.value) }
        if hasControl { warnings.add("a control character", line: number) }
    }

    private mutating func readURI(_ line: Bytes, isPlain: Bool, _ number: Int) throws(PlaylistError) {
        guard !line.isEmpty, !line.byte(at: 0).isBlank || !line.trimmed.isEmpty else { return }
        if let openVariant { return try endVariant(openVariant, line, number) }
        if !isPlain { try variables.check(line, line: number) }
        inForce.segments += 1
    }

    @inline(__always)
    private mutating func readTag(
        _ tag: PlaylistTag, _ body: Bytes, isPlain: Bool, _ number: Int
    ) throws(PlaylistError) {
        if tag == .segmentDuration {
            isMedia = true
            return
        }
        try readOtherTag(tag, body, isPlain: isPlain, number)
    }

    private mutating func readOtherTag(
        _ tag: PlaylistTag, _ body: Bytes, isPlain: Bool, _ number: Int
    ) throws(PlaylistError) {
        switch tag.belongs {
        case .media: isMedia = true
        case .multivariant: isMultivariant = true
        default: break
        }
        switch tag {
        case .key: try readKey(attributes(body, number))
        case .sessionKey: try readSessionKey(attributes(body, number))
        case .define: try readDefinition(attributes(body, number))
        case .stream: try openVariant(attributes(body, number))
        case .iFrameStream: try append(StreamEntry(.iFrames, attributes(body, number), &variables))
        case .rendition: try readRendition(attributes(body, number))
        case .contentSteering: try readSteering(attributes(body, number))
        case .mediaSequence: mediaSequence = Int(body.text) ?? 0
        case .endList: isComplete = true
        case .iFramesOnly: hasOnlyIFrames = true
        case .skip: try readSkip(attributes(body, number))
        case .dateRange:
            if !isPlain { try attributes(body, number).check(variables) }
            try readInterstitial(body, number)
        case .preloadHint:
            if !isPlain { try attributes(body, number).check(variables) }
            try readHint(body, number)
        case .map, .mediaAttributes, .multivariantAttributes:
            if !isPlain { try attributes(body, number).check(variables) }
        case .segmentDuration, .byteRange, .discontinuity, .media: break
        }
    }

    private mutating func attributes(_ body: Bytes, _ number: Int) throws(PlaylistError) -> AttributeList {
        let list = try AttributeList(body, line: number, limit: limits.attributesPerTag)
        if list.isOdd {
            warnings.add("blanks, commas or letters in the attributes that may not be there", line: number)
        }
        return list
    }
}

extension PlaylistReader {
    private mutating func readKey(_ attributes: AttributeList) throws(PlaylistError) {
        let tag = try keyTag(attributes)
        try inForce.apply(tag, index: keyTags.count, limits: limits)
        keyTags.append(tag)
    }

    private mutating func readSessionKey(_ attributes: AttributeList) throws(PlaylistError) {
        let tag = try keyTag(attributes)
        guard tag.method != .none else {
            throw PlaylistError(.sessionKeyMethod, line: tag.line, "EXT-X-SESSION-KEY with METHOD=NONE")
        }
        let isNew = sessionKeys.insert(tag.identity).inserted
        if !isNew { warnings.add("EXT-X-SESSION-KEY is repeated", line: tag.line) }
        sessionKeyTags.append(tag)
    }

    private mutating func keyTag(_ attributes: AttributeList) throws(PlaylistError) -> KeyTag {
        guard keyTags.count + sessionKeyTags.count < limits.keyTags else {
            throw .limit("key tags", limits.keyTags, line: attributes.line)
        }
        return try KeyTag(attributes, &variables, &warnings)
    }

    private mutating func readDefinition(_ attributes: AttributeList) throws(PlaylistError) {
        let definition = try VariableDefinition(attributes)
        if case .imported = definition.origin { firstImport = firstImport ?? attributes.line }
        let value = try definition.value(in: context, line: attributes.line)
        try variables.define(definition.name, as: value, line: attributes.line)
    }

    private mutating func readSteering(_ attributes: AttributeList) throws(PlaylistError) {
        try attributes.check(variables)
        firstPathway = try attributes.text("PATHWAY-ID", &variables)
    }

    private mutating func readRendition(_ attributes: AttributeList) throws(PlaylistError) {
        let type = try attributes.text("TYPE", &variables) ?? ""
        try append(StreamEntry(.rendition(type: type), attributes, &variables))
    }

    private mutating func append(_ entry: StreamEntry) throws(PlaylistError) {
        guard streams.count < limits.streams else { throw .limit("streams", limits.streams, line: entry.line) }
        var entry = entry
        entry.uri = entry.uri.map { URIReference.resolve($0, against: context.uri) }
        streams.append(entry)
    }

    private mutating func openVariant(_ attributes: AttributeList) throws(PlaylistError) {
        if let openVariant { warnAboutVariant(openVariant) }
        try append(StreamEntry(.variant, attributes, &variables))
        openVariant = streams.count - 1
    }

    private mutating func endVariant(_ index: Int, _ line: Bytes, _ number: Int) throws(PlaylistError) {
        openVariant = nil
        streams[index].uri = URIReference.resolve(try variables.text(of: line, line: number), against: context.uri)
    }

    private mutating func warnAboutVariant(_ index: Int) {
        warnings.add("EXT-X-STREAM-INF without a URI line", line: streams[index].line)
    }
}
