import Foundation
@_spi(Adapters) import Latchkey
import LatchkeyCore
import LatchkeyFairPlay
import LatchkeyHLS
import LatchkeySimulation
import LatchkeySupport
import LatchkeyTerminal
@_spi(Integrations) import LatchkeyVendors

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// What a proxy or a browser recorded, looked at like a stream: playlists, certificate, licenses. Nothing is sent.
struct TrafficDiagnosis: Sendable {
    let profile: VendorProfile
    fileprivate let exchanges: [Exchange]
    private let identification: VendorIdentification

    /// A request, and its reply if one came.
    fileprivate struct Exchange: Sendable {
        let request: CapturedRequest
        var reply: HTTPReply?
    }

    init(_ capture: TrafficCapture, profile: VendorProfile) {
        self.profile = profile
        identification = VendorIdentification(profiles: [profile])
        exchanges = capture.messages.reduce(into: []) { exchanges, message in
            switch message {
            case .request(let request): exchanges.append(Exchange(request: request))
            case .reply(let reply):
                guard let last = exchanges.indices.last, exchanges[last].reply == nil else { return }
                exchanges[last].reply = reply
            }
        }
    }

    /// The profile that fits a capture best.
    /// - Throws: `UsageError` if none does.
    static func profile(of capture: TrafficCapture) throws(UsageError) -> VendorProfile {
        let matches = VendorIdentification().identify(capture)
        guard let best = matches.first(where: { $0.profile != nil && $0.confidence >= .likely }),
            let profile = best.profile.flatMap(VendorProfile.named)
        else {
            throw UsageError("nothing in the capture names a vendor: --vendor ID or --profile FILE is missing.")
        }
        return profile
    }

    func report() async -> DoctorReport {
        let checks = await playlists() + certificates + licenses
        guard checks.contains(where: { $0.result != .skipped }) else {
            return DoctorReport(
                checks + [
                    .error(
                        .license, "nothingCaptured",
                        "The capture has no playlist, no certificate and no license request.",
                        "Record the whole playback, and save it as HAR with content.")
                ], sentSecrets: false)
        }
        return DoctorReport(checks, sentSecrets: false)
    }
}

// MARK: - The steps

extension TrafficDiagnosis {
    private func playlists() async -> [Checkup] {
        guard let first = exchanges.first(where: { $0.reply?.isPlaylist == true }) else {
            return [.skipped(.playlist, "The capture has no playlist.")]
        }
        let diagnosis = StreamDiagnosis(profile: profile, credentials: .none, hosts: HostPolicy(), player: .none)
        let stream = await diagnosis.stream(at: first.request.url, WebResources(transport: CapturedPlaylists(replies)))
        let found = stream.checks.filter { $0.code != CapturedPlaylists.code }
        let missing = stream.checks.count - found.count
        return found
            + (missing > 0 ? [.skipped(.playlist, "\(missing) of its playlists are not in the capture.")] : [])
    }

    private var replies: [String: HTTPReply] {
        Dictionary(exchanges.compactMap { exchange in exchange.reply.map { (exchange.request.url, $0) } }) { $1 }
    }

    private var certificates: [Checkup] {
        let found = exchanges.filter(\.isForCertificate)
        guard !found.isEmpty else { return [.skipped(.certificate, "The capture has no request for a certificate.")] }
        return found.prefix(Self.mostShown).flatMap { exchange -> [Checkup] in
            guard let pair = exchange.pair else { return [Self.unanswered(.certificate, exchange.request)] }
            do {
                let certificate = try profile.unchecked.certificate(from: pair)
                return StreamDiagnosis(profile: profile, credentials: .none, hosts: HostPolicy(), player: .none)
                    .checks(of: certificate.der)
            } catch {
                return [Checkup(.certificate, Failure(error), about: Self.shown(exchange.request))]
            }
        }
    }

    private var licenses: [Checkup] {
        let found = exchanges.filter { isForLicense($0) }
        guard !found.isEmpty else { return [.skipped(.license, "The capture has no license request.")] }
        let shown = found.prefix(Self.mostShown).map { exchange -> Checkup in
            guard let pair = exchange.pair else { return Self.unanswered(.license, exchange.request) }
            let context = LicenseContext(
                keyURI: KeyURI(""), contentIdentifier: ContentIdentifier(""), purpose: .streaming)
            do {
                let terms =
                    try profile.unchecked.license(from: pair, context).terms.map { ", \(TermsSummary($0))" } ?? ""
                return .ok(.license, "\(Self.shown(exchange.request)): a CKC came\(terms)")
            } catch {
                return Checkup(.license, Failure(error), about: Self.shown(exchange.request))
            }
        }
        let more = found.count - shown.count
        return shown + (more > 0 ? [.skipped(.license, "\(more) more license requests are in the capture.")] : [])
    }

    /// How many requests of one kind are shown.
    private static let mostShown = 8

    /// A license request has an SPC in its body; it is known by its reply, by the vendor's form, or by its address.
    private func isForLicense(_ exchange: Exchange) -> Bool {
        let request = exchange.request
        guard request.method.uppercased() == "POST", exchange.reply?.isPlaylist != true, !exchange.isForCertificate
        else {
            return false
        }
        if let reply = exchange.reply, Recognition(reply.body) == .ckc { return true }
        let address = request.url.lowercased().prefix { $0 != "?" }
        if ["license", "licence", "fairplay", "fps", "/ksm", "ckc"].contains(where: { address.contains($0) }) {
            return true
        }
        return identification.identify(request).contains { $0.confidence >= .likely }
    }

    private static func unanswered(_ step: Checkup.Step, _ request: CapturedRequest) -> Checkup {
        .error(
            step, "noReplyCaptured", "\(shown(request)): no reply is in the capture.",
            "Check the network and the service; if a reply came, save the traffic again as HAR with content.")
    }

    /// Method and address without anything that may be secret.
    private static func shown(_ request: CapturedRequest) -> String {
        let address = Redaction.standard.redacted(urlText: request.url).prefix { $0 != "?" && $0 != "#" }
        return "\(request.method.prefix(10)) \(address.prefix(120))".visible
    }
}

extension TrafficDiagnosis.Exchange {
    fileprivate var pair: HTTPExchange? {
        guard let reply, let url = URL(string: request.url) else { return nil }
        return HTTPExchange(request: URLRequest(url: url), reply: reply)
    }

    fileprivate var isForCertificate: Bool {
        let path = request.url.lowercased().prefix { $0 != "?" }
        let isNamed = path.contains("certificate") || [".cer", ".der", ".crt"].contains { path.hasSuffix($0) }
        if isNamed { return true }
        guard request.method.uppercased() == "GET", let reply, case .certificate = Recognition(reply.body) else {
            return false
        }
        return true
    }
}

extension HTTPReply {
    fileprivate var isPlaylist: Bool { body.starts(with: Data("#EXTM3U".utf8)) }
}

/// The recorded playlists; any other address is none of the capture's.
private struct CapturedPlaylists: Transport {
    /// The code of what was not recorded.
    static let code = "notCaptured"

    private let replies: [String: HTTPReply]

    init(_ replies: [String: HTTPReply]) { self.replies = replies }

    func send(_ request: URLRequest, bodyLimit: Int) async throws -> HTTPReply {
        guard let reply = request.url.flatMap({ replies[$0.absoluteString] }) else {
            throw Diagnosis(code: Self.code, reason: "It is not in the capture.", remedy: "Record the whole playback.")
        }
        return reply
    }
}
