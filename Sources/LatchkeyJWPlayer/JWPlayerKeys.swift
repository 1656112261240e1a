public import Foundation
@_spi(Adapters) public import Latchkey

/// Delivers keys to JW Player: the content key data source of one player, of version 4 or 3.
///
///     let keys = JWPlayerKeys(loader, onFailure: show)
///     player.contentKeyDataSource = keys      // version 3: player.drmDataSource = keys
///     player.configurePlayer(with: configuration)
///
/// Keep it as long as the player plays, because the player may hold it weakly. When it is deallocated it ends open requests
/// and releases its keys. Each player needs its own instance; they may share a loader. JW Player's interface has no error: a
/// failed request gets `nil`, or empty data in version 3, and only `onFailure` receives the reason. Safe to use from any
/// thread. Source: `Documentation/Players.md` §4.
///
/// JW Player requests a license without naming the key of its SPC. So only one SPC is made at a time: this class passes the
/// content identifier of the next key when the last key's SPC has arrived; before version 3.13, which requests no identifier,
/// it passes the certificate. Licenses of several keys are requested in parallel.
// Sound: `order` is only accessed while the lock is held; the rest are constants.
public nonisolated final class JWPlayerKeys: NSObject, @unchecked Sendable {
    let stored: JWPlayerStoredKeys?
    let contentType: String
    private let keys: PlayerKeys
    private let spcTimeout: Duration
    private let timekeeper: any Timekeeper
    private let assetOf: @Sendable (KeyURI) -> AssetID?
    private let onFailure: @Sendable (KeyFailure) -> Void
    private let lock = NSLock()
    private var order = SPCOrder()

    /// - Parameters:
    ///   - loader: Gets the keys.
    ///   - stored: The key manager of the player's `JWDRMContentLoader`, if keys are stored. Version 4 only.
    ///   - contentType: The UTI that JW Player gets with a license. Defaults to `application/octet-stream`, as in JW Player's samples.
    ///   - spcTimeout: How long the SPC of one key may delay other keys. Defaults to 3 s; players need a fraction of that.
    ///   - timekeeper: The clock of `spcTimeout`.
    ///   - assetOf: Returns the app's name for the title of a key, such as the title loaded last, used to request credentials and carried
    ///     by failures and events. Defaults to `nil` for each key. Called on any thread.
    ///   - onFailure: Receives the reason that a key was not delivered or ended; not called for cancellations. Called on any thread,
    ///     which it must not block.
    public init(
        _ loader: ContentKeyLoader, stored: JWPlayerStoredKeys? = nil,
        contentType: String = "application/octet-stream", spcTimeout: Duration = .seconds(3),
        timekeeper: any Timekeeper = SystemTimekeeper(),
        assetOf: @escaping @Sendable (KeyURI) -> AssetID? = { _ in nil },
        onFailure: @escaping @Sendable (KeyFailure) -> Void
    ) {
        keys = PlayerKeys(loader, ended: onFailure)
        self.assetOf = assetOf
        self.stored = stored
        self.contentType = contentType
        self.spcTimeout = spcTimeout
        self.timekeeper = timekeeper
        self.onFailure = onFailure
        super.init()
    }

    deinit { release() }

    /// Pauses heartbeats until `resume()`, for an app in the background that does not play.
    public func suspend() { keys.suspend() }

    /// Resumes heartbeats after `suspend()`.
    public func resume() { keys.resume() }

    /// Releases all keys, because the player changes its source or is discarded: open requests end without an answer, and no
    /// key is renewed.
    public func release() {
        let waiting = lock.withLock {
            defer { order = SPCOrder(after: order) }
            return order.waiting
        }
        for turn in waiting { turn.begin(false) }
        keys.release()
    }
}

// MARK: - Requests of both versions

nonisolated extension JWPlayerKeys {
    /// Answers with a content identifier when it is the key's turn; with `nil` if there is no certificate to make an SPC with.
    ///
    /// The certificate is loaded first, so that only the player's own work counts for `spcTimeout`.
    func contentIdentifier(for url: URL, _ answer: @escaping (Data?) -> Void) {
        let key = KeyURI(url.absoluteString)
        let identifier: Data
        do throws(ContentKeyError) { identifier = try keys.loader.contentIdentifier(for: key).bytes } catch {
            fail(error, key)
            return answer(nil)
        }
        let turn = change { order in
            order.namesKeys = true
            return order.add(key) { answer($0 ? identifier : nil) }
        }
        fetchCertificate(for: url) { [weak self] certificate in
            self?.change { $0.settle(turn, hasCertificate: certificate != nil) }?.begin(false)
        }
    }

    /// Answers with the certificate: immediately if JW Player requests content identifiers; otherwise the key's turn begins with it.
    func certificate(for url: URL, _ answer: @escaping (Data?) -> Void) {
        guard !lock.withLock({ order.namesKeys }) else { return fetchCertificate(for: url, answer) }
        fetchCertificate(for: url) { [weak self] certificate in
            guard let self, let certificate else { return answer(nil) }
            change { order in
                let turn = order.add(KeyURI(url.absoluteString)) { answer($0 ? certificate : nil) }
                _ = order.settle(turn, hasCertificate: true)
            }
        }
    }

    private func fetchCertificate(for url: URL, _ answer: @escaping (Data?) -> Void) {
        // Sound: it is called once, and JW Player documents no threading rule.
        nonisolated(unsafe) let answer = answer
        keys.certificate { [weak self] result in
            if case .failure(let error) = result { self?.fail(error, KeyURI(url.absoluteString)) }
            answer(try? result.get())
        }
    }

    /// - Parameter purpose: The purpose of a key, given the names by which JW Player may know it; `nil` to play it.
    func license(for spc: Data, purpose: ([String]) -> KeyPurpose?, _ answer: @escaping (PlayerLicense?) -> Void) {
        let (found, repeated) = change { $0.take(for: spc) }
        repeated?.begin(true)
        guard let key = found else {
            if !lock.withLock({ order.takeLate() }) { fail(.keyUnnamed, nil) }
            return answer(nil)
        }
        let identifier = try? keys.loader.contentIdentifier(for: key)
        let names = [key.raw] + [identifier].compactMap { $0.map { String(decoding: $0.bytes, as: UTF8.self) } }
        // Sound: as above.
        nonisolated(unsafe) let answer = answer
        keys.license(for: spc, key: key, purpose: purpose(names), asset: assetOf(key)) { [weak self] result in
            if case .failure(let error) = result { self?.fail(error, key) }
            answer(try? result.get())
        }
    }

    func fail(_ error: ContentKeyError, _ key: KeyURI?) {
        if error.isReportable { onFailure(KeyFailure(error, key: key, asset: key.flatMap(assetOf))) }
    }

    /// Changes the order, and starts the next key if possible.
    private func change<Value>(_ body: (inout SPCOrder) -> Value) -> Value {
        let (value, next, slow) = lock.withLock { (body(&order), order.next(), order.watch()) }
        next?.begin(true)
        // If JW Player makes no SPC for a key, the other keys still proceed.
        if let slow {
            Task { [weak self, timekeeper, spcTimeout] in
                try? await timekeeper.sleep(for: spcTimeout)
                self?.change { $0.passOver(slow) }
            }
        }
        return value
    }
}

nonisolated extension ContentKeyError {
    fileprivate static let keyUnnamed = ContentKeyError(
        .keyUnnamed, stage: .spc, "JW Player made an SPC and had asked for no key.",
        remedy: "Use one data source for each player.")
}
