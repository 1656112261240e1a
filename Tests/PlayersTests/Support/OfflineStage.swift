import AVFoundation
import Latchkey
import LatchkeyAVFoundation
import LatchkeyCore
import LatchkeyMedia
import LatchkeyTesting
import LatchkeyVendors
import StandInEngine

/// A call that gets keys to store, with a license service that waits until it is opened.
struct OfflineStage: Sendable {
    static let deadline = Duration.seconds(900)
    static let attemptTimeout = Duration.seconds(300)
    /// When a call ends at the latest.
    static let limit = deadline + attemptTimeout

    let loader: ContentKeyLoader
    let store: HangingKeyStore
    let service: WatchedService
    let keys: Set<KeyURI>
    /// When the call begins.
    let start: Duration
    private let stage: PlayerStage
    private let downloader: OfflineDownloads
    private let licensesBefore: Int

    /// Runs a body on a separate stage, on which the call has work to do: keys to renew are stored, and due.
    static func with(_ call: OfflineWaitTests.Call, _ body: (OfflineStage) async throws -> Void) async throws {
        try await PlayerStage.with(terms: LicenseTerms(.persistentFor(.seconds(86_400)))) { stage in
            let offline = try await OfflineStage(stage, call)
            offline.service.hold()
            let result = await Result { try await body(offline) }
            offline.service.open()
            try result.get()
        }
    }

    private init(_ stage: PlayerStage, _ call: OfflineWaitTests.Call) async throws {
        // Kaltura's replies state how long a key may be stored.
        let profile = VendorProfile.kaltura
        self.stage = stage
        store = HangingKeyStore()
        loader = stage.loader(profile, store: store, deadline: Self.deadline)
        service = stage.service(for: profile)
        keys = try await stage.keys(of: .twoKeys, for: profile)
        downloader = stage.downloads(loader) { event in
            if case .finished(_, let location) = event { try? FileManager.default.removeItem(at: location.url) }
        }
        if call == .renewKeys {
            try await StoredKeys(loader).storeKeys(keys, of: "movie")
            stage.time.advance(by: .seconds(50_000))
        }
        start = stage.time.uptime
        licensesBefore = service.licenses
        await untilNoSession()
    }
}

extension OfflineStage {
    var time: ManualTimekeeper { stage.time }
    var log: StandInLog { stage.log }
    /// The session of the call.
    var session: AVContentKeySession? { stage.stage.keySessions.last }
    var openRequests: [AVContentKeyRequest] { session?.standIn.openRequests ?? [] }
    /// How many downloads of media began.
    var downloads: Int { log.names.count { $0 == "willDownload" } }

    /// Begins the call.
    func begin(_ call: OfflineWaitTests.Call) -> Task<Result<Void, any Error>, Never> {
        Task {
            await Result {
                switch call {
                case .storeKeys: try await downloader.storeKeys(keys, of: "movie")
                case .renewKeys:
                    let failure = try await downloader.renewKeys().compactMap(\.failure).first
                    if let failure {
                        throw failure.loaderError ?? ContentKeyError.downloadFailed("No key", failure.error)
                    }
                case .download:
                    try await downloader.begin(
                        "movie", title: "A Movie", from: stage.playlist(.twoKeys, for: .kaltura), keys: keys)
                }
            }
        }
    }

    /// Waits until the license service has been asked for all keys.
    func untilAsked(times: Int = 1) async { await service.untilLicenses(licensesBefore + times * keys.count) }

    /// Lets time pass as soon as a task waits for it.
    func pass(_ duration: Duration) async {
        await time.untilSomeoneSleeps(for: duration)
        time.advance(by: duration)
    }

    /// Waits until no session is kept.
    func untilNoSession() async { await until { stage.stage.keySessions.isEmpty } }

    /// Waits until something holds, or the test's time is over.
    func until(_ condition: () -> Bool) async {
        while !condition(), !Task.isCancelled { await Task.yield() }
    }
}

/// A store whose writes can be made to wait.
final class HangingKeyStore: PersistableKeyStore {
    private let base = MemoryKeyStore()
    private let gate = Locked<Gate?>(nil)

    /// Lets writes wait.
    func hang() { gate.withLock { $0 = Gate() } }

    /// Resumes the waiting writes, and lets all later ones through.
    func goOn() {
        gate.withLock { gate in
            defer { gate = nil }
            return gate
        }?.open()
    }

    func items() throws -> Set<StoredItem> { try base.items() }
    func bytes(of item: StoredItem) throws -> Secret? { try base.bytes(of: item) }
    func remove(_ item: StoredItem) throws { try base.remove(item) }

    func write(_ bytes: Secret, to item: StoredItem) async throws {
        await gate.withLock { $0 }?.wait()
        try base.write(bytes, to: item)
    }
}

extension PlayerStage {
    /// Downloads with a separate background session, because a process has one for each identifier.
    func downloads(
        _ loader: ContentKeyLoader, identifier: String = UUID().uuidString,
        onEvent: @escaping @Sendable (OfflineDownloadEvent) -> Void = { _ in }
    ) -> OfflineDownloads {
        OfflineDownloads(loader, identifier: identifier, onEvent: onEvent)
    }
}
