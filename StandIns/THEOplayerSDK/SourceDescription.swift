public import Foundation

/// A stream and its protection.
// Sound: it never changes, and players only read what its configuration says.
public final class TypedSource: NSObject, @unchecked Sendable {
    public let src: URL
    public let type: String
    public let drm: (any DRMConfiguration)?

    public init(src: String, type: String, drm: (any DRMConfiguration)? = nil) {
        self.src = URL(string: src) ?? URL(fileURLWithPath: src)
        self.type = type
        self.drm = drm
    }
}

/// What a player plays.
public final class SourceDescription: NSObject, Sendable {
    public let sources: [TypedSource]

    public init(source: TypedSource) { sources = [source] }
}
