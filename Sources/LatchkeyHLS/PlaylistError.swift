public import LatchkeyCore

/// The reason that a playlist was refused, with the line.
///
/// The texts contain no value from the playlist, because key URIs and variables often carry tokens.
public struct PlaylistError: DiagnosableError, Hashable {
    let kind: Kind
    /// The refused line, counted from 1; `nil` if the whole playlist was refused.
    public let line: Int?
    /// The problem in a few words: `undefined variable nope`.
    public let summary: String

    init(_ kind: Kind, line: Int? = nil, _ summary: String) {
        self.kind = kind
        self.line = line
        self.summary = summary
    }

    public var code: String { kind.rawValue }

    public var reason: String {
        guard let line else { return "The playlist was refused: \(summary)." }
        return "Line \(line) of the playlist was refused: \(summary)."
    }

    public var remedy: String { kind.remedy }

    /// The codes. They are stable.
    enum Kind: String, CaseIterable {
        case missingHeader, notUTF8, compressed, mixedKinds, unknownKind, limitExceeded
        case malformedAttributes, duplicateAttribute, missingAttribute, malformedValue
        case sessionKeyMethod, malformedDefinition, duplicateDefinition, undefinedVariable
        case importNotFound, importInMultivariant, queryParameterNotFound, malformedSegment
    }
}

extension PlaylistError {
    static func limit(_ name: String, _ limit: Int, line: Int? = nil) -> Self {
        Self(.limitExceeded, line: line, "more than \(limit) \(name)")
    }

    /// A name from the playlist, cut to at most 64 characters for logs.
    static func short(_ name: String) -> String { name.count > 64 ? "\(name.prefix(64))…" : name }
}

extension PlaylistError.Kind {
    var remedy: String {
        switch self {
        case .missingHeader:
            "Check that the address gives a playlist and not an error page; it must start with #EXTM3U."
        case .notUTF8: "Write the playlist as UTF-8 without a byte order mark."
        case .compressed: "Unpack it (gunzip < FILE), and have a server that sends it so say Content-Encoding: gzip."
        case .mixedKinds: "Put media segment tags and multivariant tags into separate playlists."
        case .unknownKind: "Check that the playlist is complete; it has no tag of a media or multivariant playlist."
        case .limitExceeded: "Make the playlist smaller or raise the limit in PlaylistLimits."
        case .malformedAttributes: "Write attributes as NAME=VALUE, joined by commas, with closed quotes."
        case .duplicateAttribute: "State each attribute of a tag once."
        case .missingAttribute: "Add the attribute that the tag requires."
        case .malformedValue: "Correct the attribute's value at the packager."
        case .sessionKeyMethod: "Remove the session key or give it the method of its EXT-X-KEY."
        case .malformedDefinition: "Give EXT-X-DEFINE exactly one of NAME with VALUE, IMPORT or QUERYPARAM."
        case .duplicateDefinition: "Define each variable once in a playlist."
        case .undefinedVariable: "Define the variable before the line that uses it."
        case .importNotFound: "Define the variable in the multivariant playlist and load the media playlist through it."
        case .importInMultivariant: "Use IMPORT in media playlists only."
        case .queryParameterNotFound: "Load the playlist by an address that has the query parameter."
        case .malformedSegment: "Correct the segment's tags at the packager."
        }
    }
}
