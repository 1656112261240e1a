import Foundation
@_spi(Adapters) import Latchkey
import LatchkeyCore
import LatchkeyFairPlay
import LatchkeyHLS
import LatchkeyPlayback
import LatchkeySimulation
import LatchkeySupport
import LatchkeyTerminal
@_spi(Integrations) import LatchkeyVendors

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// Diagnoses a proxy's or a browser's recording like a stream: playlists, certificate, licenses. Sends nothing.
///
/// Compares each refused license request with the request that the profile sends; the first difference is the diagnosis. If the vendor is
/// unknown, checks only the rules that hold for every vendor.
struct TrafficDiagnosis: Sendable {
    /// The vendor's name.
    let name: String
    /// The vendor's profile; one that reads any usual reply if the vendor is unknown.
    let profile: VendorProfile
    let exchanges: [TrafficExchange]
    /// Whether the vendor was named, or the capture names it.
    let isKnown: Bool
    private let isNamed: Bool
    private let sealedHosts: [String]
    /// Header fields that the recorder left out of all requests, in lowercase.
    let leftOut: Set<String>
    /// The key server's module with the service's credentials, which open recorded licenses; `nil` without credentials.
    let module: KeyServerModule?

    /// - Parameters:
    ///   - named: the profile that the user named; if `nil`, the best match for the capture.
    ///   - module: the key server's module with the service's credentials, if they are known.
    init(_ capture: TrafficCapture, profile named: VendorProfile?, module: KeyServerModule? = nil) {
        self.module = module
        (sealedHosts, leftOut) = (capture.sealedHosts, capture.leftOut)
        let found = named ?? Self.profile(of: capture)
        var profile = found ?? Self.anyVendor
        name = found?.name ?? "Unknown vendor"
        (isKnown, isNamed) = (found != nil, named != nil)
        // The repeated message ID is not the one sent.
        profile.lookup?.echoes = [:]
        if profile.certificate.request == nil { profile.certificate = Self.anyVendor.certificate }
        self.profile = profile
        exchanges = TrafficExchange.all(in: capture)
    }

    /// The profile that matches a capture best; `nil` if none does.
    private static func profile(of capture: TrafficCapture) -> VendorProfile? {
        let matches = VendorIdentification().identify(capture)
        return matches.first { $0.profile != nil && $0.confidence >= .likely }?.profile.flatMap(VendorProfile.named)
    }

    /// Reads certificates and licenses in every usual form.
    private static let anyVendor: VendorProfile = {
        var profile = VendorProfile.genericRaw
        profile.decoder = .tolerant
        return profile
    }()

    func report() async -> DoctorReport {
        let web = RecordedWeb(exchanges)
        let stream = await stream(web)
        let roles = await TrafficRoles(profile, keys: stream.keys)
        let sorted = Dictionary(grouping: exchanges) { roles.role(of: $0) }
        var checks = stream.checks + identifiers(of: stream.keys, web)
        checks += preparations(sorted)
        let certificates = certificates(sorted[.certificate] ?? [])
        checks += certificates.checks
        checks += licenses(sorted, for: stream, after: checks, roles.licensePlaces, certificates.sha1s)
        checks += await media(of: stream, contentKeys(sorted[.license] ?? [], for: stream.keys), web)
        if isNamed { checks += diagnosis.otherProfile(for: stream.keys, after: checks) }
        checks += diagnosis.clocks(notes(of: exchanges), after: checks)
        return DoctorReport(sealed(checks) + checks, sentSecrets: false, isRecorded: true)
    }

    /// Connections that the recorder did not look into, if parts are missing.
    private func sealed(_ checks: [Checkup]) -> [Checkup] {
        guard !sealedHosts.isEmpty, checks.contains(where: { $0.result == .unseen }) else { return [] }
        let shown = sealedHosts.prefix(4).joined(separator: ", ").visible
        let more = sealedHosts.count > 4 ? " and \(sealedHosts.count - 4) more" : ""
        return [
            .unseen(
                .license, "The recorder did not open TLS to \(shown)\(more), and saw no request there.",
                "Have it decrypt these hosts (Charles: Proxy > SSL Proxying Settings; others: trust its certificate on the device), and record again."
            )
        ]
    }

    /// A live diagnosis, for its knowledge of playlists, certificates and refusals.
    var diagnosis: StreamDiagnosis {
        StreamDiagnosis(profile: profile, credentials: .none, hosts: HostPolicy(), player: .none)
    }

    /// The maximum number of requests shown of one kind.
    static let mostShown = 8
    static let recordAll =
        "Record the whole playback from before the player loads the stream, and save it as HAR with content."
}

// MARK: - Playlists

extension TrafficDiagnosis {
    /// The recorded streams, as one. A clear stream next to an encrypted one is an advertisement.
    private func stream(_ web: RecordedWeb) async -> StreamDiagnosis.Stream {
        let playlists = exchanges.filter(\.isOfPlaylist)
        guard !playlists.isEmpty else {
            return StreamDiagnosis.Stream(checks: [.unseen(.playlist, "The capture has no playlist.", Self.recordAll)])
        }
        var found: [StreamDiagnosis.Stream] = []
        var checks = playlists.prefix(Self.mostShown).compactMap { exchange -> Checkup? in
            guard exchange.reply == nil || exchange.replyGap != nil else { return nil }
            return exchange.reply == nil ? unanswered(.playlist, exchange) : unseen(.playlist, exchange)
        }
        for playlist in playlists
        where playlist.reply != nil && playlist.replyGap == nil && found.count < Self.mostShown {
            guard !playlist.isHop(before: exchanges), !web.wasAsked(playlist.request.url) else { continue }
            found.append(await diagnosis.stream(at: playlist.request.url, WebResources(transport: web)))
        }
        let withKeys = found.filter { !$0.keys.isEmpty }
        let wanted =
            withKeys.isEmpty ? found : found.filter { !$0.keys.isEmpty || !$0.checks.allSatisfy(\.isAboutClearStream) }
        if wanted.count > 1, wanted.allSatisfy({ $0.playlists.count == 1 }) {
            checks.append(
                .unseen(
                    .playlist, "The multivariant playlist that names the others is not in the capture.", Self.recordAll)
            )
        }
        checks += wanted.flatMap(\.checks).filter { $0.code != RecordedWeb.code }
        if !web.missed.isEmpty {
            let count = web.missed.count
            checks.append(
                .unseen(
                    .playlist,
                    "\(count.counted("playlist")) of the stream \(count == 1 ? "is" : "are") not in the capture.",
                    "Play every rendition while it is recorded, or have latchkey doctor URL load them."))
        }
        var keys: [KeyURI] = []
        for key in wanted.flatMap(\.keys) where !keys.contains(key) { keys.append(key) }
        return StreamDiagnosis.Stream(checks: checks, keys: keys, playlists: wanted.flatMap(\.playlists))
    }

    private func identifiers(of keys: [KeyURI], _ web: RecordedWeb) -> [Checkup] {
        guard isKnown, !keys.isEmpty else { return [] }
        let loader = ContentKeyLoader(
            profile.unchecked, credentials: .fixed(.none),
            configuration: LoaderConfiguration(certificateFetch: .withFirstKey), transport: web)
        defer { loader.cancel() }
        // A setting that only the app has is missing here without being wrong.
        return diagnosis.identifiers(of: keys, loader).filter { $0.code != "missingSetting" }
    }

    /// Checks of the recorded segments, decrypted where their keys are known.
    private func media(
        of stream: StreamDiagnosis.Stream, _ opened: [KeyURI: ContentKey], _ web: RecordedWeb
    ) async -> [Checkup] {
        guard !stream.keys.isEmpty else { return [] }
        var diagnosis = diagnosis
        diagnosis.sampleLimit = 16
        let checks = await diagnosis.media(
            of: stream, with: opened, WebResources(transport: web), ignoring: RecordedWeb.code
        ).filter { $0.result != .unseen }
        let closed = stream.keys.count { opened[$0] == nil }
        if !opened.isEmpty, closed == 0 { return checks }
        guard opened.isEmpty else {
            return checks + [
                .skipped(
                    .media,
                    "\(closed.counted("key")) of the stream could not be opened, and \(closed == 1 ? "is" : "are") not tried."
                )
            ]
        }
        return checks + [
            .skipped(.media, "Whether the keys open the media is not looked at: only the player had them.")
        ]
    }
}

extension Checkup {
    /// Whether it only says that a stream is clear.
    fileprivate var isAboutClearStream: Bool { result == .ok || code == "noFairPlayKey" || code == RecordedWeb.code }
}

/// The recorded playlists and segments; the capture has no other address.
private final class RecordedWeb: Transport {
    /// The code of an address that was not recorded.
    static let code = "notCaptured"

    private struct Place: Hashable { let url, range: String }

    private let replies: [Place: HTTPReply]
    private let state = Locked((asked: Set<String>(), missed: Set<String>()))

    init(_ exchanges: [TrafficExchange]) {
        let found = exchanges.compactMap { exchange -> (Place, HTTPReply)? in
            guard exchange.method == "GET", exchange.replyGap == nil, let reply = exchange.reply else { return nil }
            let url = URL(string: exchange.request.url)?.absoluteString ?? exchange.request.url
            return (Place(url: url, range: exchange.request.header("Range") ?? ""), reply)
        }
        replies = Dictionary(found) { $1 }
    }

    /// The addresses of playlists that were asked for and not recorded.
    var missed: Set<String> { state.withLock { $0.missed } }

    func wasAsked(_ address: String) -> Bool {
        let url = URL(string: address)?.absoluteString ?? address
        return state.withLock { $0.asked.contains(url) }
    }

    func send(_ request: URLRequest, bodyLimit: Int) async throws -> HTTPReply {
        let url = request.url?.absoluteString ?? ""
        let range = request.value(forHTTPHeaderField: "Range") ?? ""
        let reply = replies[Place(url: url, range: range)] ?? replies[Place(url: url, range: "")]
        let isPlaylist = ["m3u8", "m3u"].contains(request.url?.pathExtension.lowercased() ?? "")
        state.withLock { state in
            state.asked.insert(url)
            if reply == nil, isPlaylist { state.missed.insert(url) }
        }
        guard let reply else {
            throw Diagnosis(code: Self.code, reason: "It is not in the capture.", remedy: TrafficDiagnosis.recordAll)
        }
        return reply
    }
}

// MARK: - What precedes a license

extension TrafficDiagnosis {
    /// Entitlements and secure sessions.
    private func preparations(_ sorted: [TrafficRoles.Role: [TrafficExchange]]) -> [Checkup] {
        let vendor = profile.unchecked
        var checks = (sorted[.lookup] ?? []).prefix(Self.mostShown).map { exchange in
            var values: [String: Secret] = [:]
            let came = check(.lookup, exchange, "the entitlement came") {
                values = try vendor.lookup(from: $0, LookupContext(keyURI: nil))
            }
            return came.result == .ok ? unused(values, of: exchange, sorted[.license] ?? []) ?? came : came
        }
        for step in [SessionStep.setup, .heartbeat] {
            checks += (sorted[.session(step)] ?? []).prefix(Self.mostShown).map { exchange in
                check(.session, exchange, step == .setup ? "the session opened" : "the session lives on") {
                    _ = try vendor.session(from: $0, step)
                }
            }
        }
        let licenses = max(sorted[.license]?.count ?? 0, 1)
        let wanted = vendor.lookupScope == .never ? 0 : vendor.lookupScope == .key ? licenses : 1
        if (sorted[.lookup]?.count ?? 0) < wanted {
            checks.append(.unseen(.lookup, "The capture lacks a request for the entitlement.", Self.recordAll))
        }
        if vendor.sessionScope == .source, sorted[.session(.setup)] == nil {
            checks.append(
                .unseen(.session, "The capture has no request that opens the secure session.", Self.recordAll))
        }
        return checks
    }

    /// A license address that was received, but got no license request.
    private func unused(
        _ values: [String: Secret], of exchange: TrafficExchange, _ licenses: [TrafficExchange]
    ) -> Checkup? {
        guard case .lookup(let name) = profile.license.url.base, let address = values[name]?.revealedText,
            !licenses.contains(where: { URL(string: $0.request.url) == URL(string: address) })
        else { return nil }
        return .unseen(
            .lookup, "\(exchange.shown): no license request in the capture went to the address that came.",
            Self.recordAll)
    }

    private func check(
        _ step: Checkup.Step, _ exchange: TrafficExchange, _ words: String, _ read: (HTTPExchange) throws -> Void
    ) -> Checkup {
        guard let pair = exchange.pair else { return unanswered(step, exchange) }
        do {
            try read(pair)
            return exchange.replyGap == nil
                ? .ok(step, "\(exchange.shown): \(words)") : unseen(step, exchange)
        } catch {
            if exchange.replyGap != nil, pair.reply.status == 200 { return unseen(step, exchange) }
            return explained(Checkup(step, Failure(error), about: exchange.shown), error, exchange, nil)
        }
    }

    private func certificates(_ found: [TrafficExchange]) -> (checks: [Checkup], sha1s: Set<String>) {
        var sha1s: Set<String> = []
        let asked = found.filter { !$0.isHop(before: exchanges) }
        guard !asked.isEmpty else { return ([], []) }
        let all = asked.map { exchange -> [Checkup] in
            guard let pair = exchange.pair else { return [unanswered(.certificate, exchange)] }
            do {
                let bytes = try profile.unchecked.certificate(from: pair).bytes
                if let gap = exchange.replyGap { return [unseen(.certificate, exchange, gap)] }
                if let sha1 = (try? FairPlayCertificate(bytes))?.fingerprint.hexString { sha1s.insert(sha1) }
                return diagnosis.checks(of: bytes, from: pair.reply)
            } catch {
                if pair.reply.status == 200, let gap = exchange.replyGap {
                    return [unseen(.certificate, exchange, gap)]
                }
                let check = Checkup(.certificate, Failure(error), about: exchange.shown)
                return [explained(check, error, exchange, nil)]
            }
        }
        let told = zip(asked, all).enumerated().map { index, found in
            // A refusal before a good answer at the same address, such as one for a missing token, is not a fault.
            let isRefusal = (400..<500).contains(found.0.reply?.status ?? 0)
            let isRepaired =
                isRefusal
                && zip(asked, all).dropFirst(index + 1).contains { later, checks in
                    later.address.isPlace(of: found.0.address) && checks.contains { $0.result == .ok }
                }
            return isRepaired ? found.1.map { $0.result == .error ? $0.asWarning : $0 } : found.1
        }
        // The exchanges that are not shown are checked, too.
        let rest = told.dropFirst(Self.mostShown).joined().filter { $0.result != .ok }.prefix(Self.mostShown)
        return (told.prefix(Self.mostShown).flatMap(\.self) + rest, sha1s)
    }
}

// MARK: - Findings for every exchange

extension TrafficDiagnosis {
    func unanswered(_ step: Checkup.Step, _ exchange: TrafficExchange) -> Checkup {
        .error(
            step, "noReplyCaptured", "\(exchange.shown): no reply is in the capture.",
            "Check the network and the service; if a reply came, save the traffic again as HAR with content.")
    }

    func unseen(_ step: Checkup.Step, _ exchange: TrafficExchange, _ gap: BodyGap? = nil) -> Checkup {
        let words = (gap ?? exchange.replyGap ?? .notSaved).words
        return .unseen(
            step, "\(exchange.shown): the body of the reply \(words).",
            "Save the traffic again as HAR with content; a browser keeps bodies only while its tools are open.")
    }

    /// A refusal with the evidence of its exchange.
    func explained(_ check: Checkup, _ error: any Error, _ exchange: TrafficExchange, _ sha1: String?) -> Checkup {
        diagnosis.explained(check, error, notes(of: [exchange]), spcFor: sha1)
    }

    /// The notes that a live diagnosis would have taken: clocks, and the last reply.
    private func notes(of exchanges: [TrafficExchange]) -> TrafficWatch.Notes {
        var notes = TrafficWatch.Notes()
        // Parsing a date is slow.
        let dated = Dictionary(exchanges.filter { $0.date != nil }.map { ($0.address.host, $0) }) { $1 }
        notes.aheadByHost = dated.compactMapValues { exchange in
            exchange.date.flatMap { exchange.reply?.date?.timeIntervalSince($0) }
        }
        for exchange in exchanges {
            guard let reply = exchange.reply else { continue }
            notes.lastReply = exchange.replyGap == nil ? reply : nil
            let target = (300..<400).contains(reply.status) ? reply.header("location") : nil
            notes.redirect = target.map { (reply.status, RecordedAddress($0).shown) }
        }
        return notes
    }
}
