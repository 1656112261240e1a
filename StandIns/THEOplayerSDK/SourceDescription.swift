public import Foundation

/// A stream and its protection.
public final class TypedSource: NSObject {
    public let src: URL
    public let type: String
    public let drm: (any DRMConfiguration)?

    public init(src: String, type: String, drm: (any DRMConfiguration)? = nil) {
        self.src = URL(string: src) ?? URL(fileURLWithPath: src)
        self.type = type
        self.drm = drm
    }
}

/// The content of a player.
public final class SourceDescription: NSObject {
    public let sources: [TypedSource]

    public init(source: TypedSource) { sources = [source] }
}
