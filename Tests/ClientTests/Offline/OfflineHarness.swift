import Foundation
@_spi(Adapters) import Latchkey
import LatchkeyCore
import LatchkeyTesting

let audio: KeyURI = "skd://host/audio"
let sd: KeyURI = "skd://host/sd"
let hd: KeyURI = "skd://host/hd"

/// Stored keys over a store in memory and a clock that stands still.
final class OfflineHarness: Sendable {
    let clock: ManualTimekeeper
    let store: MemoryKeyStore
    let offline: OfflineKeys
    private let log = Locked<[String]>([])

    /// - Parameter earlier: the harness whose store and time it takes over, as a new launch of the app does.
    init(
        policy: OfflinePolicy = OfflinePolicy(), renews: Bool = true, after earlier: OfflineHarness? = nil,
        identifier: @escaping @Sendable (KeyURI) throws -> ContentIdentifier = { ContentIdentifier($0.raw) }
    ) {
        clock = ManualTimekeeper(date: earlier?.clock.date ?? ManualTimekeeper().date)
        store = earlier?.store ?? MemoryKeyStore()
        let log = log
        offline = OfflineKeys(
            store, policy: policy, renews: renews, timekeeper: clock, identifier: identifier,
            report: { key, _, kind in
                let text = if case .storeFailed(let error) = kind { "failed \(error.code)" } else { kind.name }
                log.withLock { $0.append(key.map { "\(text) \($0.remainder)" } ?? text) }
            })
    }

    /// The events so far.
    var events: [String] { log.withLock { $0 } }

    /// Fetches and stores a key, with terms.
    @discardableResult
    func fetch(
        _ key: KeyURI, _ validity: LicenseTerms.Validity? = nil, _ use: StoredKeyUse = .reuse, ckc: String = "ckc"
    ) async throws -> Secret {
        try await offline.key(for: FakePersistableRequest(key, storedKey: use)) {
            License(ckc: Secret(ckc), terms: validity.map { LicenseTerms($0) })
        }
    }

    /// Requests an asset and has all its keys stored.
    func download(_ asset: AssetID, _ keys: Set<KeyURI>, _ validity: LicenseTerms.Validity? = nil) async throws {
        try await offline.register(asset, keys: keys)
        for key in keys { try await fetch(key, validity) }
    }

    /// The state of the one key or asset.
    func state(_ asset: AssetID = "movie") async throws -> OfflineState? { try await offline.asset(asset)?.state }

    func remaining(_ asset: AssetID = "movie") async throws -> Duration? { try await offline.asset(asset)?.remaining }
}

extension Duration {
    static func days(_ days: Double) -> Self { .seconds(days * 86_400) }
    static func hours(_ hours: Double) -> Self { .seconds(hours * 3_600) }
}

/// The fake player's stored form of a CKC.
func stored(_ ckc: String = "ckc") -> Secret { Secret(FakePersistableRequest.storedForm(of: Data(ckc.utf8))) }
