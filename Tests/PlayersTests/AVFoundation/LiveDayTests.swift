import AVFoundation
import LatchkeyCore
import LatchkeyFairPlay
import LatchkeyOperation
import LatchkeyPolicy
import LatchkeyServices
import LatchkeyTesting
import LatchkeyTransport
import LatchkeyVendors
import StandInEngine
import Testing

@_spi(Adapters) @testable import Latchkey
@testable import LatchkeyAVFoundation
@testable import LatchkeyCommandLine

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// Twelve hours of a live stream whose keys rotate, with leases of ten minutes and the defaults of the library: how many licenses they
/// cost, and whether the picture is there all the time.
@Suite(.timeLimit(.minutes(5))) struct LiveDayTests {
    private static let hours = 12
    private static let lease = Duration.seconds(600)

    @Test(arguments: [(3_600, 300), (300, 700)])
    func `a day costs the licenses of the keys that play, has no gap, and the tool says so too`(
        rotation: Int, most: Int
    ) async throws {
        let day = try await LiveDay.played(rotation: .seconds(rotation), hours: Self.hours, lease: Self.lease)
        #expect(day.gaps.isEmpty)
        #expect(day.licenses <= most)
        #expect(day.failures == 0)

        var live = LivePlay(
            profile: .vuDRM,
            completed: { $0.reduce(VendorProfile.vuDRM) { $0.setting($1.key, to: $1.value) }.unchecked },
            duration: .seconds(3_600 * Self.hours), lease: Self.lease)
        live.rotation = .seconds(rotation)
        let tool = try await live.report()
        #expect(tool.right)
        #expect(abs(Double(tool.licenses - day.licenses)) <= 0.05 * Double(day.licenses), "\(tool.licenses)")
    }

    @Test func `without the playlists the newest keys are renewed, and the picture is there`() async throws {
        let day = try await LiveDay.played(
            rotation: .seconds(300), hours: 2, lease: Self.lease, options: { $0.readsPlaylists = false })
        #expect(day.gaps.isEmpty)
        #expect(day.playlists == 0)
        // Each key is renewed until eight newer ones came, 20 minutes later.
        #expect(day.licenses < 200)
    }

    @Test func `keys whose renewals failed until their leases ended are had back when the service is`() async throws {
        try await PlayerStage.with(terms: LicenseTerms(.lease(Self.lease))) { stage in
            let app = AVApp(stage.loader(lease: Self.lease), playing: stage.playlist())
            let result = try await app.play()
            stage.service(for: .vuDRM).faults.set(.status(403), at: .license)
            stage.time.advance(by: .seconds(450))
            await stage.log.untilCallback("didFail")
            #expect(app.keys.renewEndedKeys().isEmpty)
            stage.time.advance(by: .seconds(150))
            await app.failures.until("leaseEnded")
            #expect(app.session?.standIn.usableKeys.isEmpty == true)
            stage.service(for: .vuDRM).faults.clear()
            #expect(app.keys.renewEndedKeys() == Set(result.keyURIs))
            #expect(app.keys.renewEndedKeys().isEmpty)
            await stage.log.untilCallback("didSucceed", times: result.keyURIs.count * 2)
            #expect(app.session?.standIn.usableKeys == Set(result.keyURIs.map(\.raw)))
            // And from then on they are renewed as ever.
            stage.time.advance(by: .seconds(450))
            await stage.log.untilCallback("didSucceed", times: result.keyURIs.count * 3)
            #expect(stage.log.violations.isEmpty)
        }
    }
}

/// What a day cost.
private struct LiveDay {
    var licenses = 0
    /// How often a playlist was read.
    var playlists = 0
    var failures = 0
    /// The moments at which a key that plays could not decrypt.
    var gaps: [Duration] = []

    /// Plays a live stream of audio and video through `AVPlayerKeys`. Time passes from one event to the next.
    static func played(
        rotation: Duration, hours: Int, lease: Duration,
        options change: @escaping @Sendable (inout AVPlayerKeys.Options) -> Void = { _ in }
    ) async throws -> LiveDay {
        let end = Duration.seconds(3_600 * hours)
        let keys = RotatingKeys()
        let store = keys.store(periods: Int(saturating: end / rotation) + 1)
        let special: (ServiceEnvironment) -> (any VendorService)? = { environment in
            let authority = LicenseAuthority(
                module: environment.authority.module, keys: store,
                policy: LicensePolicy(standard: LicenseTerms(.lease(lease))), pool: WorkerPool(threads: 2))
            return VuDRMService(ServiceEnvironment(authority: authority, time: environment.time))
        }
        return try await PlayerStage.with(special: special) { stage in
            let playlists = LivePlaylists { [stage] in
                let now = Double(stage.time.uptime.components.seconds)
                // The window of the playlists: a minute.
                let periods = Int(max(0, now - 60) / rotation.inSeconds)...Int(now / rotation.inSeconds)
                return periods.map { period in stage.uris(keys, period) }
            }
            let service = stage.service(for: .vuDRM)
            let loader = ContentKeyLoader(
                stage.configured(.vuDRM).unchecked,
                credentials: Credentials { _ in CredentialSet(["token": service.issue(nil)]) },
                configuration: LoaderConfiguration(
                    hosts: HostPolicy(loopback: .http), leases: LeasePolicy(assumedLease: lease)),
                transport: playlists, timekeeper: stage.time)
            var options = AVPlayerKeys.Options()
            change(&options)
            let app = AVApp(loader, playing: LivePlaylists.address, options: options)
            var day = LiveDay()
            var plan = RenewalPlans(loader)
            var period = 0
            while rotation * period < end {
                let playing = stage.uris(keys, period)
                for key in playing { app.keys.preload(key) }
                await plan.settle(at: stage.time.uptime) { plan in playing.allSatisfy { plan.due[$0] != nil } }
                await stage.log.untilCallback("didSucceed", times: plan.licenses)
                period += 1
                while let next = plan.due.values.min(), next < rotation * period {
                    stage.time.advance(by: max(.zero, next - stage.time.uptime))
                    let now = stage.time.uptime
                    let usable = app.session?.standIn.usableKeys ?? []
                    if !usable.isSuperset(of: playing.map(\.raw)) { day.gaps.append(now) }
                    await plan.settle(at: now) { plan in plan.due.values.allSatisfy { $0 > now } }
                    await stage.log.untilCallback("didSucceed", times: plan.licenses)
                }
                stage.time.advance(by: rotation * period - stage.time.uptime)
            }
            day.licenses = service.licenses
            day.playlists = playlists.reads
            day.failures = app.failures.all.count
            #expect(stage.log.violations.isEmpty)
            loader.cancel()
            return day
        }
    }
}

extension PlayerStage {
    /// The key URIs of a period, as a playlist for VuDRM names them.
    fileprivate func uris(_ keys: RotatingKeys, _ period: Int) -> [KeyURI] {
        let host = address.split(separator: "://").last.map(String.init) ?? ""
        return keys.tracks.map { track in
            KeyURI(service(for: .vuDRM).keyURI(for: keys.key(track, period: period), at: host))
        }
    }
}

/// When the loader renews each key that it keeps alive, by its events.
private struct RenewalPlans {
    var due: [KeyURI: Duration] = [:]
    private(set) var licenses = 0
    private var events: AsyncStream<KeyEvent>.Iterator

    init(_ loader: ContentKeyLoader) { events = loader.events().makeAsyncIterator() }

    /// Reads events until a condition is met.
    mutating func settle(at now: Duration, _ isSettled: (Self) -> Bool) async {
        while !isSettled(self), let event = await events.next() {
            let key = KeyURI(event.key)
            switch event.kind {
            case .renewalPlanned(let wait, _):
                due[key] = now + wait
                licenses += 1
            case .evicted, .ended: due[key] = nil
            default: break
            }
        }
    }
}

/// Live playlists of audio and video at one address; everything else goes to the network.
private final class LivePlaylists: Transport {
    static let address = URL(string: "https://live.example.com/main.m3u8").unsafelyUnwrapped

    private let count = Locked(0)
    /// The keys of each period that the playlists hold now: audio, video.
    private let periods: @Sendable () -> [[KeyURI]]

    init(_ periods: @escaping @Sendable () -> [[KeyURI]]) { self.periods = periods }

    /// How often the multivariant playlist was read.
    var reads: Int { count.withLock { $0 } }

    func send(_ request: URLRequest, bodyLimit: Int) async throws -> HTTPReply {
        guard request.url?.host == Self.address.host else {
            return try await SystemTransport().send(request, bodyLimit: bodyLimit)
        }
        let name = request.url?.lastPathComponent ?? ""
        if name == "main.m3u8" { count.withLock { $0 += 1 } }
        return HTTPReply(status: 200, body: Data(text(of: name).utf8))
    }

    private func text(of name: String) -> String {
        guard let track = ["audio.m3u8", "video.m3u8"].firstIndex(of: name) else {
            return """
                #EXTM3U
                #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a",NAME="a",URI="audio.m3u8"
                #EXT-X-STREAM-INF:BANDWIDTH=1000000,AUDIO="a"
                video.m3u8

                """
        }
        let segments = periods().map { keys in
            """
            #EXT-X-KEY:METHOD=SAMPLE-AES,URI="\(keys[track].raw)",KEYFORMAT="com.apple.streamingkeydelivery"
            #EXTINF:6,
            segment.mp4
            """
        }
        return "#EXTM3U\n#EXT-X-TARGETDURATION:6\n" + segments.joined(separator: "\n") + "\n"
    }
}
