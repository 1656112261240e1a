public import Foundation
import LatchkeyCore
import StandInEngine
import StandInPlayers

/// Gets the keys of a stream ahead of playing it, and has them stored.
///
/// A key's identifier is its URI (inferred: the reference names only a text).
// Sound: everything is set once; what the app gave is called from one queue.
public final class JWDRMContentLoader: NSObject, @unchecked Sendable {
    private let stage = StandInStage.current ?? StandInStage()
    private let queue = DispatchQueue(label: "com.jwplayer.keys.offline")
    private let box: DataSourceBox
    private weak var keyManager: (any JWDRMContentKeyManager)?

    public init(dataSource: any JWDRMContentKeyDataSource, keyManager: any JWDRMContentKeyManager) {
        box = DataSourceBox(on: stage)
        box.source = dataSource
        self.keyManager = keyManager
    }

    /// Gets and stores the keys of a stream that are to be stored and are not yet.
    public func load(playlist url: URL) async {
        do {
            _ = try await StandInPlayback(on: stage).load(url.absoluteString) { uris in
                for uri in uris { try await store(uri) }
            }
        } catch {
            let error = (error as? KeyFailure).map(JWError.init) ?? JWError(.badLicense(error as NSError))
            await tell("failedWithError") { $0.contentLoader($1, failedWithError: error) }
        }
    }

    private func store(_ uri: KeyURI) async throws {
        let isWanted = await tell("contentKeyTypeFor", uri.raw) {
            $0.contentLoader($1, contentKeyTypeFor: uri.raw) == .persistable
        }
        guard isWanted == true, await exists(uri.raw) != true else { return }
        let hooks = box.hooks(on: queue)
        let exchange = StandInExchange(.persistable, on: stage)
        let spc = try await hooks.makeSPC(for: uri, with: exchange)
        let license = try await hooks.answer(spc, for: uri, with: exchange).bytes
        let bytes: Data
        do { bytes = try exchange.storableKey(from: license) } catch { throw KeyFailure.badLicense(error as NSError) }
        await write(bytes, uri.raw)
    }

    func storedKey(_ identifier: String) async -> Data? {
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
        await stage.call(name, about: subject, on: queue) { [self] () -> Value? in
            guard let keyManager else {
                stage.log.note(.delegateGone, "keyManager")
                CallbackProbe.noteNobody()
                return nil
            }
            return body(keyManager, self)
        }.flatMap { $0 }
    }
}
