public import Foundation
import Latchkey

#if canImport(JWPlayerKit)
    public import JWPlayerKit
#endif

/// Keeps the keys that JW Player 4 stores, one file each: the key manager of a `JWDRMContentLoader`.
///
///     let stored = JWPlayerStoredKeys(in: folder)
///     let keys = JWPlayerKeyBridge(loader, stored: stored)
///     let contentLoader = JWDRMContentLoader(dataSource: keys, keyManager: stored)
///     await contentLoader.load(playlist: url)
///
/// JW Player's questions are answered by returning, so nothing here goes through `loader.offline`: a question looks for a file, and
/// a key is a file of a few kilobytes that takes the old one's place. Keep it as long as the content loader.
// Sound: what changes is in `wanted`, behind a lock; the rest are constants.
public final class JWPlayerStoredKeys: NSObject, @unchecked Sendable {
    private let folder: URL
    private let onError: @Sendable (any Error) -> Void
    private let lock = NSLock()
    /// The keys that the player is about to store.
    private var wanted: Set<String> = []

    /// - Parameters:
    ///   - folder: where the keys are, and nothing else; made when the first is stored. Remove it to remove all keys.
    ///   - onError: hears why a key was not stored; called from any thread.
    public init(in folder: URL, onError: @escaping @Sendable (any Error) -> Void = { _ in }) {
        self.folder = folder
        self.onError = onError
        super.init()
    }

    /// What a license is asked for: to be stored, where JW Player said so, which it does once ahead of the request.
    func purpose(of names: [String]) -> KeyPurpose? {
        lock.withLock { names.compactMap { wanted.remove($0) } }.isEmpty ? nil : .persistable
    }

    /// The names of files and folders come from the identifier in hexadecimal, so that no identifier leads elsewhere and none meets
    /// another where case does not count. File systems take names of 255 bytes.
    private func file(of identifier: String) -> URL {
        let digits = identifier.utf8.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
        var (place, rest) = (folder, digits[...])
        while rest.count > 200 {
            place.append(path: rest.prefix(200))
            rest = rest.dropFirst(200)
        }
        return place.appending(path: "\(rest).key")
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
    #if canImport(ObjectiveC)
        @objc
    #endif
    extension JWPlayerStoredKeys: JWDRMContentKeyManager {
        public func contentLoader(
            _ contentLoader: JWDRMContentLoader, writePersistableContentKey contentKey: Data,
            contentKeyIdentifier: String
        ) {
            do { try write(contentKey, to: file(of: contentKeyIdentifier)) } catch { onError(error) }
        }

        public func contentLoader(
            _ contentLoader: JWDRMContentLoader, didWritePersistableContentKey contentKeyIdentifier: String
        ) {}

        public func contentLoader(
            _ contentLoader: JWDRMContentLoader, deletePersistableContentKey contentKeyIdentifier: String
        ) {
            let file = file(of: contentKeyIdentifier)
            guard FileManager.default.fileExists(atPath: file.path) else { return }
            do { try FileManager.default.removeItem(at: file) } catch { onError(error) }
        }

        /// All keys that a content loader asks about are stored; it asks for those of streams that the app loads with it.
        public func contentLoader(
            _ contentLoader: JWDRMContentLoader, contentKeyTypeFor contentKeyIdentifier: String
        ) -> JWContentKeyType {
            lock.withLock { _ = wanted.insert(contentKeyIdentifier) }
            return .persistable
        }

        public func contentLoader(
            _ contentLoader: JWDRMContentLoader, contentKeyExistsOnDisk contentKeyIdentifier: String
        ) -> Bool { FileManager.default.fileExists(atPath: file(of: contentKeyIdentifier).path) }

        public func contentLoader(
            _ contentLoader: JWDRMContentLoader, urlForPersistableContentKey contentKeyIdentifier: String
        ) -> URL { file(of: contentKeyIdentifier) }

        public func contentLoader(_ contentLoader: JWDRMContentLoader, failedWithError error: JWError) {
            onError(error)
        }
    }
#endif
