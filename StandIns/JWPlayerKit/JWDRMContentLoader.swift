public import Foundation
import LatchkeyCore
import StandInEngine
import StandInPlayers

/// Requests the keys of a stream before playback, and stores them through the key manager.
///
/// The identifier of a key is its URI (inferred: the reference only says that it is text).
public final class JWDRMContentLoader: NSObject {
    private let stage = StandInStage.current ?? StandInStage()
    private let queue = DispatchQueue(label: "com.jwplayer.keys.offline")
    private let dataSource: WeakDataSource<any JWDRMContentKeyDataSource>
    private weak var keyManager: (any JWDRMContentKeyManager)?

    public init(dataSource: any JWDRMContentKeyDataSource, keyManager: any JWDRMContentKeyManager) {
        self.dataSource = WeakDataSource(on: stage)
        self.dataSource.source = dataSource
        self.keyManager = keyManager
    }

    /// Requests and stores the storable keys of a playlist's streams that are not stored yet. Returns immediately.
    /// - Parameter url: the address of a JW Platform playlist, JSON.
    public func load(playlist url: URL) {
        load { [stage] in
            try JSONDecoder().decode(PlatformPlaylist.self, from: await stage.bytes(at: url.absoluteString)).files
        }
    }

    /// Requests and stores the storable keys of streams that are not stored yet. Returns immediately.
    public func load(items: [JWPlayerItem]) {
        let files = items.map(\.file.absoluteString)
        load { files }
    }

    private func load(_ files: @escaping @Sendable () async throws -> [String]) {
        // Sound: all properties of a loader are set once; the app's objects are called on one queue.
        nonisolated(unsafe) let loader = self
        Task {
            do {
                for file in try await files() {
                    _ = try await StandInPlayback(on: loader.stage).load(file) { uris in
                        for uri in uris { try await loader.store(uri) }
                    }
                }
            } catch {
                let error = (error as? KeyFailure).map(JWError.init) ?? JWError(.badLicense(error as NSError))
                await loader.tell("failedWithError") { $0.contentLoader($1, failedWithError: error) }
            }
        }
    }

    /// A key of a playing stream: a player's content loader also asks about these.
    /// - Returns: the key's bytes; `nil` if it is streamed.
    func key(for uri: KeyURI) async -> Data? {
        do { try await store(uri) } catch {
            let error = (error as? KeyFailure).map(JWError.init) ?? JWError(.badLicense(error as NSError))
            await tell("failedWithError") { $0.contentLoader($1, failedWithError: error) }
        }
        return await storedKey(uri.raw)
    }

    private func store(_ uri: KeyURI) async throws {
        let isWanted = await tell("contentKeyTypeFor", uri.raw) {
            $0.contentLoader($1, contentKeyTypeFor: uri.raw) == .persistable
        }
        guard isWanted == true, await exists(uri.raw) != true else { return }
        let hooks = dataSource.hooks(on: queue, stage)
        let exchange = StandInExchange(.persistable, for: uri.raw, on: stage)
        let spc = try await hooks.makeSPC(for: uri, with: exchange)
        let license = try await hooks.answer(spc, for: uri, with: exchange).bytes
        let bytes: Data
        do { bytes = try exchange.storableKey(from: license) } catch { throw KeyFailure.badLicense(error as NSError) }
        await write(bytes, uri.raw)
    }

    private func storedKey(_ identifier: String) async -> Data? {
        guard await exists(identifier) == true else { return nil }
        return await tell("urlForPersistableContentKey", identifier) {
            try? Data(contentsOf: $0.contentLoader($1, urlForPersistableContentKey: identifier))
        }?.flatMap { $0 }
    }

    func write(_ bytes: Data, _ identifier: String) async {
        await tell("writePersistableContentKey", identifier) {
            $0.contentLoader($1, writePersistableContentKey: bytes, contentKeyIdentifier: identifier)
        }
        await tell("didWritePersistableContentKey", identifier) {
            $0.contentLoader($1, didWritePersistableContentKey: identifier)
        }
    }

    func delete(_ identifier: String) async {
        await tell("deletePersistableContentKey", identifier) {
            $0.contentLoader($1, deletePersistableContentKey: identifier)
        }
    }

    private func exists(_ identifier: String) async -> Bool? {
        await tell("contentKeyExistsOnDisk", identifier) {
            $0.contentLoader($1, contentKeyExistsOnDisk: identifier)
        }
    }

    @discardableResult
    private func tell<Value: Sendable>(
        _ name: String, _ subject: String? = nil,
        _ body: @escaping @Sendable (any JWDRMContentKeyManager, JWDRMContentLoader) -> Value
    ) async -> Value? {
        // Sound for the same reason as above.
        nonisolated(unsafe) let loader = self
        nonisolated(unsafe) let keyManager = keyManager
        return await stage.call(name, about: subject, on: queue) { [stage] () -> Value? in
            guard let keyManager else {
                stage.log.note(.delegateGone, "keyManager")
                CallbackProbe.noteNobody()
                return nil
            }
            return body(keyManager, loader)
        }.flatMap { $0 }
    }
}

/// A playlist of JW Platform's delivery service, with only the members for streams.
private struct PlatformPlaylist: Decodable {
    struct Item: Decodable {
        let sources: [Source]
    }

    struct Source: Decodable {
        let file: String
    }

    let playlist: [Item]

    /// The HLS playlists.
    var files: [String] { playlist.flatMap(\.sources).map(\.file).filter { $0.contains(".m3u8") } }
}
