public import Foundation
public import Latchkey

#if canImport(JWPlayerKit)
    public import JWPlayerKit
#endif

/// Stores keys for JW Player 4, one file each: the key manager of a `JWDRMContentLoader`.
///
///     let stored = JWPlayerStoredKeys(in: folder, onFailure: show)
///     let keys = JWPlayerKeys(loader, stored: stored, onFailure: show)
///     let contentLoader = JWDRMContentLoader(dataSource: keys, keyManager: stored)
///     player.contentLoader = contentLoader      // before configurePlayer(with:), to play stored keys
///
///     stored.isDownloading = true               // until onStored has reported all keys
///     contentLoader.load(items: [item])
///
/// `load(items:)` takes items with the address of an HLS playlist, `load(playlist:)` the address of a JW Platform playlist in
/// JSON. Both return immediately.
///
/// JW Player expects synchronous answers, so nothing here goes through `loader.offline`: each question looks for a file, and a
/// key is a file of a few kilobytes that replaces the old one. Keep it as long as the content loader.
// Sound: `wanted` and `downloading` are only accessed while the lock is held; the rest are constants.
public nonisolated final class JWPlayerStoredKeys: NSObject, @unchecked Sendable {
    private let folder: URL
    private let onStored: @Sendable (_ identifier: String) -> Void
    private let onFailure: @Sendable (KeyFailure) -> Void
    private let lock = NSLock()
    /// The identifiers of keys that the player is about to store.
    private var wanted: Set<String> = []
    private var downloading = false

    /// - Parameters:
    ///   - folder: Holds only the keys. It is created when the first key is stored; remove it to remove all keys.
    ///   - onStored: Receives JW Player's identifier of each stored key: its media may be downloaded now. Ignored by default.
    ///     Called on any thread, which it must not block.
    ///   - onFailure: Receives the reason that a key was not stored or removed; the key's URI is unknown. Called on any
    ///     thread, which it must not block.
    public init(
        in folder: URL, onStored: @escaping @Sendable (_ identifier: String) -> Void = { _ in },
        onFailure: @escaping @Sendable (KeyFailure) -> Void
    ) {
        self.folder = folder
        self.onStored = onStored
        self.onFailure = onFailure
        super.init()
    }

    /// Whether to store the keys that JW Player requests. Defaults to `false`: keys that are not stored yet are streamed, also
    /// through a content loader, because many licenses may not be stored. Set it while the keys of a download are loaded.
    public var isDownloading: Bool {
        get { lock.withLock { downloading } }
        set { lock.withLock { downloading = newValue } }
    }

    /// `persistable` if JW Player announced that it stores the key, which it does once before each such request; `nil`
    /// otherwise.
    func purpose(of names: [String]) -> KeyPurpose? {
        lock.withLock { names.compactMap { wanted.remove($0) } }.isEmpty ? nil : .persistable
    }

    /// File and folder names are the identifier in hexadecimal, so that no identifier leads out of the folder and no two are
    /// equal on a file system that ignores case. File names may have up to 255 bytes.
    private func file(of identifier: String) -> URL {
        let digits = identifier.utf8.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
        var (place, rest) = (folder, digits[...])
        while rest.count > 200 {
            place.append(path: rest.prefix(200))
            rest = rest.dropFirst(200)
        }
        return place.appending(path: "\(rest).key")
    }

    private func exists(_ identifier: String) -> Bool {
        FileManager.default.fileExists(atPath: file(of: identifier).path)
    }

    private func write(_ key: Data, to file: URL) throws {
        let place = file.deletingLastPathComponent()
        try FileManager.default.createDirectory(
            at: place, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        #if canImport(Darwin) && !os(macOS)
            try key.write(to: file, options: [.atomic, .completeFileProtectionUntilFirstUserAuthentication])
        #else
            try key.write(to: file, options: .atomic)
        #endif
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: file.path)
        #if canImport(Darwin)
            var (folder, values) = (folder, URLResourceValues())
            values.isExcludedFromBackup = true
            try folder.setResourceValues(values)
        #endif
    }
}

#if canImport(JWPlayerKit)
    nonisolated extension JWPlayerStoredKeys: JWDRMContentKeyManager {
        public func contentLoader(
            _ contentLoader: JWDRMContentLoader, writePersistableContentKey contentKey: Data,
            contentKeyIdentifier: String
        ) {
            do { try write(contentKey, to: file(of: contentKeyIdentifier)) } catch {
                onFailure(KeyFailure(player: error))
            }
        }

        public func contentLoader(
            _ contentLoader: JWDRMContentLoader, didWritePersistableContentKey contentKeyIdentifier: String
        ) {
            if exists(contentKeyIdentifier) { onStored(contentKeyIdentifier) }
        }

        public func contentLoader(
            _ contentLoader: JWDRMContentLoader, deletePersistableContentKey contentKeyIdentifier: String
        ) {
            let file = file(of: contentKeyIdentifier)
            guard exists(contentKeyIdentifier) else { return }
            do { try FileManager.default.removeItem(at: file) } catch { onFailure(KeyFailure(player: error)) }
        }

        public func contentLoader(
            _ contentLoader: JWDRMContentLoader, contentKeyTypeFor contentKeyIdentifier: String
        ) -> JWContentKeyType {
            guard isDownloading || exists(contentKeyIdentifier) else { return .nonpersistable }
            lock.withLock { _ = wanted.insert(contentKeyIdentifier) }
            return .persistable
        }

        public func contentLoader(
            _ contentLoader: JWDRMContentLoader, contentKeyExistsOnDisk contentKeyIdentifier: String
        ) -> Bool { exists(contentKeyIdentifier) }

        public func contentLoader(
            _ contentLoader: JWDRMContentLoader, urlForPersistableContentKey contentKeyIdentifier: String
        ) -> URL { file(of: contentKeyIdentifier) }

        public func contentLoader(_ contentLoader: JWDRMContentLoader, failedWithError error: JWError) {
            onFailure(KeyFailure(player: error))
        }
    }
#endif
