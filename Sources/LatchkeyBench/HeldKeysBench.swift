import Foundation
@_spi(Adapters) import Latchkey
import LatchkeyCore
import LatchkeyTesting
@_spi(Integrations) import LatchkeyVendors

/// The cost of keeping a hundred keys alive for a day: leases of ten minutes, in virtual time, with a service that answers immediately.
@available(macOS 15, iOS 18, tvOS 18, *)
struct HeldKeysBench: Sendable {
    /// The results of one day.
    struct Day: Sendable {
        /// The number of renewals.
        var renewals = 0
        /// The processor time per renewal, in seconds.
        var timePerRenewal = 0.0
        /// The processor time of one license request alone, in seconds.
        var timePerRequest = 0.0
    }

    var keys = 100
    var day = Duration.seconds(86_400)
    private let lease = Duration.seconds(600)

    /// Simulates a day.
    func live() async throws -> Day {
        let time = VirtualTime()
        return try await time.run { try await self.live(time) }
    }

    /// The memory of a held key with its request, in bytes: the growth of the process divided by the number of keys.
    /// - Returns: `nil` if the system does not report it.
    func bytesPerKey(keys: Int = 5_000) async throws -> Double? {
        let time = VirtualTime()
        return try await time.run {
            let loader = self.loader(InstantService(), time, heldKeys: keys)
            defer { loader.cancel() }
            // One after the other, because only the retained memory counts, not that of requests in progress.
            let hold = { (number: Int) in
                loader.answer(RenewingRequest(KeyURI("skd://keys.example.com/\(number)"), loader))
                try await time.sleep(for: .milliseconds(1))
            }
            for number in 0..<keys / 5 { try await hold(number) }
            guard let start = residentBytes else { return nil }
            for number in keys / 5..<keys { try await hold(number) }
            return residentBytes.map { Double($0 - start) / Double(keys - keys / 5) }
        }
    }

    private func loader(_ service: InstantService, _ time: VirtualTime, heldKeys: Int) -> ContentKeyLoader {
        ContentKeyLoader(
            VendorProfile.genericRaw.with([
                "licenseURL": "https://keys.example.com/license",
                "certificateURL": "https://keys.example.com/fairplay.cer",
            ]).unchecked,
            configuration: LoaderConfiguration(leases: LeasePolicy(assumedLease: lease, heldKeys: heldKeys)),
            transport: service, timekeeper: time)
    }

    private func live(_ time: VirtualTime) async throws -> Day {
        let service = InstantService()
        let loader = loader(service, time, heldKeys: keys)
        defer { loader.cancel() }
        try await request(loader, "warm-up")
        var day = Day()
        let requestStart = Stopwatch.processTime
        for _ in 0..<1_000 { try await request(loader, "alone") }
        day.timePerRequest = (Stopwatch.processTime - requestStart) / 1_000

        let requests = (0..<keys).map { RenewingRequest(KeyURI("skd://keys.example.com/\($0)"), loader) }
        for request in requests { loader.answer(request) }
        try await time.sleep(for: .seconds(1))
        let (start, before) = (Stopwatch.processTime, service.count)
        try await time.sleep(for: self.day)
        day.renewals = service.count - before
        day.timePerRenewal = (Stopwatch.processTime - start) / Double(max(1, day.renewals))
        guard requests.allSatisfy({ $0.isAlive }) else { throw Diagnosis.keyLost }
        return day
    }

    private func request(_ loader: ContentKeyLoader, _ name: String) async throws {
        _ = try await loader.license(for: SPCMessage(SampleBytes.spc), key: KeyURI("skd://keys.example.com/\(name)"))
    }
}

/// A key request that repeats itself whenever it is asked to.
private final class RenewingRequest: PlayerKeyRequest {
    let keyURI: KeyURI
    let purpose: KeyPurpose
    private let loader: ContentKeyLoader
    /// Whether the key is alive; shared with the renewals.
    private let life: Locked<Bool>

    init(_ keyURI: KeyURI, _ loader: ContentKeyLoader) {
        self.keyURI = keyURI
        self.loader = loader
        purpose = .streaming
        life = Locked(false)
    }

    private init(renewing request: RenewingRequest) {
        keyURI = request.keyURI
        loader = request.loader
        purpose = .renewal
        life = request.life
    }

    var isAlive: Bool { life.withLock { $0 } }
    func makeSPC(certificate: Data, contentIdentifier: Data) async throws -> Data { SampleBytes.spc }
    func answer(_ result: Result<Data, ContentKeyError>) {
        if case .success = result { life.withLock { $0 = true } }
    }
    func renew() -> Bool {
        loader.answer(RenewingRequest(renewing: self))
        return true
    }
    func ended(_ error: ContentKeyError) { life.withLock { $0 = false } }
}
