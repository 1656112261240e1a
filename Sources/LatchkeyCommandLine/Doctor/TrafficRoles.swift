import Foundation
import Latchkey
import LatchkeyCore
import LatchkeySupport
@_spi(Integrations) import LatchkeyVendors

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// The roles of recorded exchanges: by their bodies and the profile's rules, or else by words in their addresses.
struct TrafficRoles: Sendable {
    enum Role: Sendable, Hashable {
        case playlist, certificate, lookup, license, other
        case session(SessionStep)
        /// A key URI that was loaded as an address.
        case keyLoad
    }

    private let profile: VendorProfile
    private var certificates: [RecordedAddress] = []
    private var lookups: [RecordedAddress] = []
    private var licenses: [RecordedAddress] = []
    /// The addresses to which the profile would send the license requests of the recorded keys.
    private(set) var licensePlaces: [RecordedAddress] = []
    private var sessions: [(step: SessionStep, place: RecordedAddress)] = []
    /// The paths that the vendor's certificates are known to have.
    private let certificatePaths: Set<String>

    /// - Parameter keys: the keys of the recorded playlists.
    init(_ profile: VendorProfile, keys: [KeyURI]) async {
        self.profile = profile
        let examples = profile.parameters.filter { $0.name == SettingName.certificateURL }.map(\.example)
        certificatePaths = Set(
            (examples + [profile.settings[SettingName.certificateURL] ?? ""]).map { RecordedAddress($0).path }
        )
        .subtracting(["", "/"])
        let vendor = profile.unchecked
        let anything = CredentialSet(
            Dictionary(profile.parameters.filter(\.isCredential).map { ($0.name, Secret("x")) }) { $1 })
        certificates = await Self.places { try await vendor.certificateRequest(CertificateContext { anything }) }
        for key in [nil] + keys.prefix(Self.mostKeys).map(Optional.some) {
            lookups += await Self.places {
                try await vendor.lookupRequest(LookupContext(keyURI: key) { anything })
            }
            if let place = vendor.licenseURL(for: key ?? KeyURI(""), lookup: [:]) {
                licenses.append(RecordedAddress(place.absoluteString))
                if key != nil { licensePlaces.append(RecordedAddress(place.absoluteString)) }
            }
        }
        for step in [SessionStep.setup, .heartbeat, .teardown] {
            sessions += await Self.places {
                try await vendor.sessionRequest(step, SessionContext(session: [:], messageID: "x") { anything })
            }.map { (step, $0) }
        }
    }

    private static let mostKeys = 64

    private static func places(_ request: () async throws -> URLRequest?) async -> [RecordedAddress] {
        guard let url = try? await request()?.url else { return [] }
        return [RecordedAddress(url.absoluteString)]
    }
}

extension TrafficRoles {
    func role(of exchange: TrafficExchange) -> Role {
        guard ["http", "https"].contains(exchange.address.scheme) else {
            return exchange.address.scheme == "skd" ? .keyLoad : .other
        }
        if exchange.isOfPlaylist { return .playlist }
        guard ["GET", "POST", "PUT"].contains(exchange.method) else { return .other }
        if case .spc = exchange.sent.core { return .license }
        if exchange.method != "GET", exchange.sent.core.isDamaged { return .license }
        return preparation(exchange) ?? (exchange.came.core == .ckc ? .license : nil) ?? byPlace(exchange)
            ?? byWords(exchange) ?? .other
    }

    /// The role of an exchange that precedes a license, by the profile's addresses and by the reply.
    private func preparation(_ exchange: TrafficExchange) -> Role? {
        func isAt(_ places: [RecordedAddress]) -> Bool { places.contains(where: exchange.address.isPlace) }
        if isAt(lookups) { return .lookup }
        if let session = sessions.first(where: { $0.place.isPlace(of: exchange.address) }) {
            return .session(session.step)
        }
        if exchange.method == "GET", isAt(certificates) { return .certificate }
        lazy var json = exchange.reply.flatMap { JSONReply($0.body) }
        func has(_ values: [String: String]) -> Bool {
            !values.isEmpty && values.values.allSatisfy { json?.text(at: $0) != nil }
        }
        if let lookup = profile.lookup, exchange.method == lookup.request.method, has(lookup.values) { return .lookup }
        if let session = profile.session, session.setup != nil, has(session.values) { return .session(.setup) }
        switch exchange.came.core {
        case .certificate, .pem(label: "CERTIFICATE"): return .certificate
        case let found where exchange.method == "GET" && found.holdsPrivateKey: return .certificate
        default: return nil
        }
    }

    private func byPlace(_ exchange: TrafficExchange) -> Role? {
        let path = exchange.address.path
        if exchange.method == "GET", profile.isHome(exchange.address.hostName), certificatePaths.contains(path) {
            return .certificate
        }
        guard exchange.method != "GET" else { return nil }
        let names = exchange.shape.names.map { $0.lowercased() }
        let isNamed = names.contains { $0 == "spc" || $0.contains("spcmessage") }
        return isNamed || licenses.contains(where: exchange.address.isPlace) ? .license : nil
    }

    /// The last resort, if a body is missing or is nothing that is exchanged for a key.
    private func byWords(_ exchange: TrafficExchange) -> Role? {
        let path = exchange.address.path.lowercased()
        if exchange.method == "GET" {
            let isNamed = path.contains("certificate") || path.contains("fpscert") || path.contains("fps_cert")
            return isNamed || [".cer", ".der", ".crt"].contains(where: path.hasSuffix) ? .certificate : nil
        }
        let words = ["license", "licence", "fairplay", "fps", "ksm", "ckc", "drm"]
        return words.contains(where: path.contains) ? .license : nil
    }
}

extension Recognition {
    /// Whether it may have been an SPC.
    fileprivate var isDamaged: Bool {
        switch self {
        case .damaged(let container, _, _): container != .certificate
        case .readAsText: true
        default: false
        }
    }
}
