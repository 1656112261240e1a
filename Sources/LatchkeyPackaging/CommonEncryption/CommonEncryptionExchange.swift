package import Foundation
import LatchkeyCore
package import LatchkeyDecision
import LatchkeyForms
package import LatchkeyHTTP
package import LatchkeyVault

/// Provides keys in the JSON protocol of Shaka Packager: a key for each kind of track and crypto period, always with its IV.
///
/// Keys are requested by content and key identifier, and the identifier encodes track and period.
///
/// Source: `Documentation/LicenseServer.md` §4.
package struct CommonEncryptionExchange: Sendable {
    /// The result of a request.
    package struct Outcome: Sendable {
        /// The reply to send. Without keys, unless its status is `OK`.
        package let response: HTTPResponse
        /// The reply's status, such as `OK` or `SIGNATURE_FAILED`; for logs and metrics.
        package let status: String
        /// The keys in it; empty unless the status is `OK`.
        package let keys: [PackagedKey]
        /// Why there are none, for logs: the reply has only the status. `nil` if its status is `OK`.
        package var refusal: LicenseRefusal?
    }

    /// The maximum size of a request, in bytes.
    package static let byteLimit = 65_536
    /// The maximum number of keys in one reply.
    package static let keyLimit = 1_000

    private let tenant: String
    private let source: any ContentKeySource
    private let signers: [String: CommonEncryptionSigner]
    private let widevineProvider: String?

    /// - Parameters:
    ///   - tenant: the tenant's name, on which key identifiers depend.
    ///   - source: the tenant's keys.
    ///   - signers: the callers allowed to ask, by name. With none, signatures are ignored, and the caller must be authenticated otherwise.
    ///   - widevineProvider: the provider's name at Widevine; `nil` leaves it out.
    package init(
        tenant: String, source: any ContentKeySource, signers: [String: CommonEncryptionSigner] = [:],
        widevineProvider: String? = nil
    ) {
        self.tenant = tenant
        self.source = source
        self.signers = signers
        self.widevineProvider = widevineProvider
    }

    /// Answers a request. Never throws: a refusal is an answer.
    /// - Parameter body: the JSON, whose headers need not state its length.
    package func answer(_ body: Data) async -> Outcome {
        guard body.count <= Self.byteLimit else { return refusal(.tooLarge) }
        guard let envelope = JSONValue(body).flatMap({ CommonEncryptionEnvelope($0) }) else {
            return refusal(.envelope)
        }
        guard isSigned(envelope) else { return refusal(.signature) }
        guard let wanted = JSONValue(envelope.request).flatMap({ CommonEncryptionRequest($0) }) else {
            return refusal(.unreadable)
        }
        do throws(PackagingRefusal) { return try await keys(wanted) } catch { return refusal(error) }
    }

    private struct Wanted {
        let track: CommonEncryptionTrack
        let period: UInt32?
        let demand: KeyDemand
    }

    private func isSigned(_ envelope: CommonEncryptionEnvelope) -> Bool {
        guard !signers.isEmpty else { return true }
        guard let signer = envelope.signer.flatMap({ signers[$0] }), let signature = envelope.signature else {
            return false
        }
        return signer.isSignature([UInt8](signature), of: [UInt8](envelope.request))
    }

    private func keys(_ request: CommonEncryptionRequest) async throws(PackagingRefusal) -> Outcome {
        let scheme = request.scheme.map { EncryptionScheme(rawValue: $0.lowercased()) } ?? .cenc
        guard let scheme else { throw .request }
        // Values that the request leaves out are not stored as if they had been stated.
        let (content, wanted) = try wanted(request, request.scheme == nil ? nil : scheme)
        let found: [KeyAddress: ContentKey]
        do { found = try await source.keys(for: wanted.map(\.demand)) } catch { throw .inside(Self.words(error)) }
        let isWidevine = request.systems?.contains("WIDEVINE") ?? true
        var tracks: [JSONValue] = []
        var keys: [PackagedKey] = []
        for one in wanted {
            let address = one.demand.address
            guard let key = found[address] else { throw .inside("A requested key is missing from the keys.") }
            let header = WidevineHeader(
                kid: address.kid, provider: widevineProvider, content: content, scheme: scheme)
            let box = JSONValue.object(["drm_type": .text("WIDEVINE"), "data": .text(header.bytes.base64)])
            var track: [String: JSONValue] = [
                "type": .text(one.track.rawValue), "key_id": .text(address.kid.bytes.base64),
                "key": .text(key.key.revealed.base64), "iv": .text(key.iv.revealed.base64),
                "pssh": .array(isWidevine ? [box] : []),
            ]
            track["crypto_period_index"] = one.period.map { .number(Double($0)) }
            tracks.append(.object(track))
            keys.append(PackagedKey(one.demand, key))
        }
        let system = KeyID(DRMSystem.widevine.rawValue).map(\.bytes.hexString) ?? ""
        let widevine = JSONValue.object(["type": .text("WIDEVINE"), "system_id": .text(system)])
        let response = Self.response([
            "status": .text("OK"), "drm": .array(isWidevine ? [widevine] : []), "already_used": .flag(false),
            "tracks": .array(tracks),
        ])
        return Outcome(response: response, status: "OK", keys: keys)
    }

    private func wanted(
        _ request: CommonEncryptionRequest, _ scheme: EncryptionScheme?
    ) throws(PackagingRefusal) -> (ContentName, [Wanted]) {
        guard let content = Data(base64Encoded: request.contentID).flatMap({ ContentName(bytes: $0) }) else {
            throw .contentID
        }
        let tracks = request.tracks.compactMap { CommonEncryptionTrack(rawValue: $0) }
        guard tracks.count == request.tracks.count else { throw .track }
        let periods = try periods(request)
        guard !tracks.isEmpty, Set(tracks).count == tracks.count, periods.count * tracks.count <= Self.keyLimit else {
            throw .request
        }
        var wanted: [Wanted] = []
        for period in periods {
            for track in tracks {
                guard let kid = try? track.keyID(content: content, period: period, tenant: tenant) else {
                    throw .inside("A key identifier cannot be created.")
                }
                // Content and identifier alone name the key, because a license request says no more.
                let rule = EncryptionContract.Rule(
                    kid: kid, trackType: track.rawValue, video: [], audio: [], periods: [])
                let demand = KeyDemand(
                    KeyAddress(content: content, kid: kid), scheme: scheme, tracks: [rule],
                    periods: period.map { [$0] } ?? [])
                wanted.append(Wanted(track: track, period: period, demand: demand))
            }
        }
        return (content, wanted)
    }

    /// The requested periods; a single `nil` without rotation.
    private func periods(_ request: CommonEncryptionRequest) throws(PackagingRefusal) -> [UInt32?] {
        guard request.firstPeriod != nil || request.periodCount != nil else { return [nil] }
        let first = request.firstPeriod ?? 0
        let count = request.periodCount ?? 1
        guard 1...UInt32(Self.keyLimit) ~= count, !first.addingReportingOverflow(count - 1).overflow else {
            throw .request
        }
        return (0..<count).map { first + $0 }
    }

    private func refusal(_ refusal: PackagingRefusal) -> Outcome {
        // The protocol answers 200 to errors for which it has a status, and to the server's own faults, too.
        let status = [422, 503].contains(refusal.status) ? 200 : refusal.status
        return Outcome(
            response: Self.response(["status": .text(refusal.code)], status: status), status: refusal.code, keys: [],
            refusal: LicenseRefusal(refusal))
    }

    /// Why the source of the keys failed.
    private static func words(_ error: any Error) -> String {
        (error as? any DiagnosableError)?.reason ?? "The source of the keys failed."
    }

    /// A failed reply has only a status: the packager prints it.
    private static func response(_ result: [String: JSONValue], status: Int = 200) -> HTTPResponse {
        let inner = Data(JSONValue.object(result).canonicalText.utf8)
        return .json(.object(["response": .text(inner.base64EncodedString())]), status: status)
    }
}

extension PackagingRefusal {
    fileprivate init(_ code: String, because reason: String, status: Int = 422) {
        self.init(
            code: code, reason, status: status, remedy: "Compare the request with Documentation/Server/Packaging.md.")
    }

    fileprivate static let contentID = Self(
        "INVALID_CONTENT_ID", because: "The content_id cannot be used in key names.")
    fileprivate static let track = Self(
        "TRACK_TYPE_UNKNOWN", because: "A track's type is unknown to this protocol.")
    fileprivate static let request = Self("INVALID_REQUEST", because: unfit)
    fileprivate static let unreadable = Self("INVALID_REQUEST", because: unfit, status: 400)
    private static let unfit = "The request lacks a member, or has an invalid one."
    fileprivate static let envelope = Self(
        "INVALID_REQUEST", because: "The body is not JSON with a request, a signature and a signer.", status: 400)
    fileprivate static let tooLarge = Self(
        "INVALID_REQUEST", because: "The body is larger than \(CommonEncryptionExchange.byteLimit) bytes.", status: 413)
    fileprivate static let signature = Self(
        "SIGNATURE_FAILED", because: "The signer is unknown, or the signature does not match this request.")

    fileprivate static func inside(_ reason: String) -> Self { Self("INTERNAL_ERROR", because: reason, status: 503) }
}
