import AVFoundation
import LatchkeyCore
import LatchkeyDecision
import LatchkeyFairPlay
import LatchkeyHTTP
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

/// Twelve hours of a live stream whose keys rotate, with leases of ten minutes and the library's defaults: the number of licenses, and
/// whether the picture is there all the time.
@Suite(.timeLimit(.minutes(5))) struct LiveDayTests {
    /// The access that a request for a playlist needs.
    enum Access {
        case open
        /// A signature in the URL that is not older than a quarter of an hour.
        case signed
        case cookies
    }

    private static let hours = 12
    private static let lease = Duration.seconds(600)

    @Test(arguments: [(3_600, 300), (300, 700)])
    func `a day costs the licenses of the playing keys, has no gap, and the tool agrees`(
        rotation: Int, most: Int
    ) async throws {
        let day = try await LiveDay.played(rotation: .seconds(rotation), hours: Self.hours, lease: Self.lease)
        #expect(day.gaps.isEmpty)
        #expect(day.licenses <= most, "\(day.licenses)")
        #expect(day.failures == 0)
        #expect(day.requests <= LivePlaylists.oneReview * (day.playlists + 1), "\(day.requests), \(day.playlists)")

        var live = LivePlay(
            profile: .vuDRM,
            completed: { $0.reduce(VendorProfile.vuDRM) { $0.setting($1.key, to: $1.value) }.unchecked },
            duration: .seconds(3_600 * Self.hours), lease: Self.lease)
        live.rotation = .seconds(rotation)
        let tool = try await live.report()
        #expect(tool.right)
        #expect(abs(Double(tool.licenses - day.licenses)) <= 0.05 * Double(day.licenses), "\(tool.licenses)")
    }

    @Test(arguments: [(Access.signed, 3_600, 300), (.cookies, 3_600, 300), (.signed, 300, 700)])
    func `signed and cookie-protected playlists cost no extra licenses if the app loads them`(
        access: Access, rotation: Int, most: Int
    ) async throws {
        let day = try await LiveDay.played(
            rotation: .seconds(rotation), hours: Self.hours, lease: Self.lease, access: access)
        #expect(day.gaps.isEmpty && day.failures == 0)
        #expect(day.licenses <= most, "\(day.licenses)")
        #expect(day.requests <= LivePlaylists.oneReview * (day.playlists + 1), "\(day.requests), \(day.playlists)")
    }

    @Test func `without the app's loading of protected playlists the newest keys are renewed`() async throws {
        let day = try await LiveDay.played(
            rotation: .seconds(3_600), hours: 12, lease: Self.lease, access: .cookies, isOwnWay: false)
        #expect(day.gaps.isEmpty && day.failures == 0)
        #expect((500...800).contains(day.licenses), "\(day.licenses)")
    }

    @Test func `without the playlists the newest keys are renewed, and the picture stays`() async throws {
        let day = try await LiveDay.played(
            rotation: .seconds(300), hours: 2, lease: Self.lease, options: { $0.readsPlaylists = false })
        #expect(day.gaps.isEmpty)
        #expect(day.playlists == 0)
        // Each key is renewed until eight newer ones came, 20 minutes later.
        #expect(day.licenses < 200)
    }

    @Test func `keys whose renewals failed until the lease ended return with the service`() async throws {
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

/// The cost of a day.
private struct LiveDay {
    var licenses = 0
    /// How often a multivariant playlist was read.
    var playlists = 0
    /// How often any playlist was read.
    var requests = 0
    var failures = 0
    /// The moments at which a key that plays could not decrypt.
    var gaps: [Duration] = []

    /// Plays a live stream of audio and video through `AVPlayerKeys`. Time passes from one event to the next.
    static func played(
        rotation: Duration, hours: Int, lease: Duration, access: LiveDayTests.Access = .open, isOwnWay: Bool = true,
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
            let playlists = LivePlaylists(access, at: stage.time) { [stage] in
                let now = Double(stage.time.uptime.components.seconds)
                // The window of the playlists: a minute.
                let periods = Int(max(0, now - 60) / rotation.inSeconds)...Int(now / rotation.inSeconds)
                return periods.map { period in stage.uris(keys, period) }
            }
            let service = stage.service(for: .vuDRM)
            var configuration = LoaderConfiguration(
                hosts: HostPolicy(loopback: .http), leases: LeasePolicy(assumedLease: lease))
            if access != .open, isOwnWay { configuration.playlist = { try await playlists.loadedByApp($0) } }
            let loader = ContentKeyLoader(
                stage.configured(.vuDRM).unchecked,
                credentials: Credentials { _ in CredentialSet(["token": service.issue(nil)]) },
                configuration: configuration,
                transport: playlists, timekeeper: stage.time)
            var options = AVPlayerKeys.Options()
            change(&options)
            let app = AVApp(loader, playing: playlists.signed(LivePlaylists.address), options: options)
            var day = LiveDay()
            var plan = RenewalPlans(loader)
            var period = 0
            while rotation * period < end {
                let playing = stage.uris(keys, period)
                for key in playing { app.keys.preload(key, as: nil, of: app.asset.url) }
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
            day.requests = playlists.requests
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
            let key = event.key ?? ""
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

/// Live playlists of audio and video, by two pathways and in six qualities; everything else goes to the network.
private final class LivePlaylists: Transport {
    typealias Access = LiveDayTests.Access

    /// Of 15 playlists: the multivariant one, the ends of the ladder, and audio, of one pathway.
    static let oneReview = 4
    static let address = URL(string: "https://live.example.com/main.m3u8").unsafelyUnwrapped

    private let counts = Locked((main: 0, all: 0))
    private let access: Access
    private let time: ManualTimekeeper
    /// The keys of each period that the playlists hold now: audio, video.
    private let periods: @Sendable () -> [[KeyURI]]

    init(_ access: Access, at time: ManualTimekeeper, _ periods: @escaping @Sendable () -> [[KeyURI]]) {
        self.access = access
        self.time = time
        self.periods = periods
    }

    /// How often the multivariant playlist was read.
    var reads: Int { counts.withLock { $0.main } }
    /// How often any playlist was read.
    var requests: Int { counts.withLock { $0.all } }

    func send(_ request: URLRequest, bodyLimit: Int) async throws -> HTTPReply {
        guard let url = request.url, url.host == Self.address.host else {
            return try await SystemTransport().send(request, bodyLimit: bodyLimit)
        }
        return reply(to: url, cookie: nil)
    }

    /// Loads a playlist as the app does: with its cookie, and a URL that it has signed now.
    func loadedByApp(_ url: URL) async throws -> (Data, URLResponse) {
        let reply = reply(to: signed(url), cookie: "session")
        let response = HTTPURLResponse(url: url, statusCode: reply.status, httpVersion: nil, headerFields: nil)
        return (reply.body, try #require(response))
    }

    /// A URL with the signature of now.
    func signed(_ url: URL) -> URL {
        guard access == .signed else { return url }
        let bare = url.absoluteString.prefix { $0 != "?" }
        return URL(string: "\(bare)?signed=\(time.uptime.components.seconds)") ?? url
    }

    private func reply(to url: URL, cookie: String?) -> HTTPReply {
        let signature = url.query?.split(separator: "=").last.flatMap { Int($0) } ?? -1_000
        let isAllowed =
            switch access {
            case .open: true
            case .signed: Int(time.uptime.components.seconds) - signature <= 900
            case .cookies: cookie != nil
            }
        guard isAllowed else { return HTTPReply(status: 403) }
        let name = url.lastPathComponent
        counts.withLock { counts in
            counts.all += 1
            if name == "main.m3u8" { counts.main += 1 }
        }
        return HTTPReply(status: 200, body: Data(text(of: name).utf8))
    }

    private func text(of name: String) -> String {
        guard name != "main.m3u8" else { return Self.main }
        let segments = periods().map { keys in
            """
            #EXT-X-KEY:METHOD=SAMPLE-AES,URI="\(keys[name == "audio.m3u8" ? 0 : 1].raw)",KEYFORMAT="com.apple.streamingkeydelivery"
            #EXTINF:6,
            segment.mp4
            """
        }
        return "#EXTM3U\n#EXT-X-TARGETDURATION:6\n" + segments.joined(separator: "\n") + "\n"
    }

    private static let main = {
        var lines = ["#EXTM3U", #"#EXT-X-CONTENT-STEERING:SERVER-URI="/steering",PATHWAY-ID="A""#]
        for pathway in ["A", "B"] {
            let rendition = #"TYPE=AUDIO,GROUP-ID="\#(pathway)",NAME="a",URI="\#(pathway)/audio.m3u8""#
            lines.append("#EXT-X-MEDIA:\(rendition)")
            for quality in 1...6 {
                let variant = #"BANDWIDTH=\#(quality)000000,PATHWAY-ID="\#(pathway)",AUDIO="\#(pathway)""#
                lines += ["#EXT-X-STREAM-INF:\(variant)", "\(pathway)/\(quality).m3u8"]
            }
        }
        return lines.joined(separator: "\n") + "\n"
    }()
}
