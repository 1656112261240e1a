public import Foundation

/// The content of a player.
public final class JWPlayerConfiguration: NSObject {
    let file: URL?
    let startsAtOnce: Bool

    init(file: URL?, startsAtOnce: Bool) {
        self.file = file
        self.startsAtOnce = startsAtOnce
    }
}

/// One entry of a playlist.
public final class JWPlayerItem: NSObject {
    let file: URL

    init(_ file: URL) { self.file = file }
}

/// Makes an entry of a playlist.
public final class JWPlayerItemBuilder: NSObject {
    private var file: URL?

    @discardableResult
    public func file(_ file: URL) -> JWPlayerItemBuilder {
        self.file = file
        return self
    }

    public func build() throws -> JWPlayerItem {
        guard let file else { throw JWError(code: 101_000, "An item needs a file.") }
        return JWPlayerItem(file)
    }
}

/// Makes a configuration. Implements only the parts of the real builder that playback needs.
public final class JWPlayerConfigurationBuilder: NSObject {
    private var items: [JWPlayerItem] = []
    private var startsAtOnce = false

    @discardableResult
    public func playlist(items: [JWPlayerItem]) -> JWPlayerConfigurationBuilder {
        self.items = items
        return self
    }

    @discardableResult
    public func autostart(_ autostart: Bool) -> JWPlayerConfigurationBuilder {
        startsAtOnce = autostart
        return self
    }

    public func build() throws -> JWPlayerConfiguration {
        JWPlayerConfiguration(file: items.first?.file, startsAtOnce: startsAtOnce)
    }
}
