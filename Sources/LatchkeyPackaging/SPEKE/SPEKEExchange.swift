package import Foundation
import LatchkeyCore
import LatchkeyFairPlay
package import LatchkeyHTTP
package import LatchkeyVault

/// Provides encryptors with keys by SPEKE 2.0, 2.1 and 1: takes a CPIX document with holes and returns it filled.
///
/// A key belongs to content and kid, never to a period's index: two redundant encoders ask for one index with different kids.
///
/// Source: `Documentation/LicenseServer.md` §2.
package struct SPEKEExchange: Sendable {
    /// The result of a request.
    package struct Outcome: Sendable {
        /// The reply to send.
        package let response: HTTPResponse
        /// The keys in it, for caching and the audit; empty for a refusal.
        package let keys: [PackagedKey]
        /// The SHA-256 of each certificate to which the keys were encrypted; empty for keys in clear and for a refusal.
        package let recipients: [[UInt8]]
        /// Why there are no keys; `nil` if there are.
        package let refusal: PackagingRefusal?
    }

    /// The deviations from SPEKE's own rules that a tenant allows.
    package struct Rules: Sendable {
        /// The SHA-256 of the certificates to which keys may be encrypted; none allows every certificate.
        package var certificates: Set<[UInt8]>
        /// Whether a request without certificates gets its keys in clear.
        package var allowsPlainKeys: Bool
        /// The maximum number of pixels of video that may share its key with audio; `nil` for no limit.
        package var largestSharedVideo: Int?

        /// - Parameters:
        ///   - certificates: the SHA-256 of the certificates to which keys may be encrypted. Defaults to every certificate.
        ///   - allowsPlainKeys: whether a request without certificates gets its keys in clear. Defaults to yes, under TLS.
        ///   - largestSharedVideo: the maximum number of pixels of video that may share its key with audio. Defaults to no limit.
        package init(
            certificates: Set<[UInt8]> = [], allowsPlainKeys: Bool = true, largestSharedVideo: Int? = nil
        ) {
            self.certificates = certificates
            self.allowsPlainKeys = allowsPlainKeys
            self.largestSharedVideo = largestSharedVideo
        }
    }

    private let source: any ContentKeySource
    private let settings: SignalingSettings
    private let rules: Rules
    private let policy: @Sendable (PackagedKey) -> PackagingPolicy
    private let generator: @Sendable () -> any RandomNumberGenerator

    /// - Parameters:
    ///   - source: the tenant's keys.
    ///   - settings: the tenant's key URIs and its other signaling.
    ///   - rules: the deviations that the tenant allows.
    ///   - policy: a key's policy for playlists. Defaults to nothing.
    ///   - generator: makes the source of document keys, MAC keys and their IVs, one for each request.
    package init(
        source: any ContentKeySource, settings: SignalingSettings, rules: Rules = Rules(),
        policy: @escaping @Sendable (PackagedKey) -> PackagingPolicy = { _ in PackagingPolicy() },
        generator: @escaping @Sendable () -> any RandomNumberGenerator = { CryptographicGenerator() }
    ) {
        self.source = source
        self.settings = settings
        self.rules = rules
        self.policy = policy
        self.generator = generator
    }

    /// Answers a request. Never throws: a refusal is an answer.
    /// - Parameters:
    ///   - headers: the request's headers. The authenticating ones were checked before.
    ///   - body: the document.
    package func answer(_ headers: HTTPHeaders, body: Data) async -> Outcome {
        let version = SPEKEVersion(headers)
        do throws(PackagingRefusal) {
            guard let version else { throw .version }
            return try await filled(body, version)
        } catch {
            var response = HTTPResponse.text(error.reason, status: error.status)
            response.headers = Self.headers(version, type: "text/plain; charset=utf-8")
            if error.status == 503 { response.headers[.retryAfter] = "2" }
            return Outcome(response: response, keys: [], recipients: [], refusal: error)
        }
    }

    /// The answer to version 1's `GET …/heartbeat`.
    package static var heartbeat: HTTPResponse {
        var response = HTTPResponse.text("The key provider is up.")
        response.headers = headers(.version1, type: "text/plain; charset=utf-8")
        return response
    }

    private func filled(_ body: Data, _ version: SPEKEVersion) async throws(PackagingRefusal) -> Outcome {
        let document = try SPEKEDocument(try Self.tree(body), version: version)
        if let limit = rules.largestSharedVideo, document.contract.sharesAudio(withVideoAbove: limit) {
            throw .contractNotSupported
        }
        if document.systems.contains(where: { $0.system == .fairPlay }),
            let objection = settings.fairPlay.objection(to: document.content)
        {
            throw PackagingRefusal(objection.reason, remedy: objection.remedy)
        }
        let delivery = try delivery(document)
        let keys = try await keys(of: document)
        let filling = SPEKEFilling(version: version, settings: settings, delivery: delivery)
        do { try fill(document, keys, filling) } catch let error as PackagingRefusal { throw error } catch {
            throw .keysUnavailable
        }
        if version != .version1 { document.tree.root["id"] = nil }
        let response = HTTPResponse(
            status: 200, headers: Self.headers(version, type: "application/xml"), body: .bytes(document.tree.data))
        return Outcome(
            response: response, keys: keys, recipients: delivery?.recipients.map(\.certificate.fingerprint) ?? [],
            refusal: nil)
    }

    private func delivery(_ document: SPEKEDocument) throws(PackagingRefusal) -> KeyDelivery? {
        guard !document.deliveries.isEmpty else {
            guard rules.allowsPlainKeys else { throw .plainKeys }
            return nil
        }
        return try KeyDelivery(document.deliveries, registered: rules.certificates, using: generator())
    }

    /// The keys of a document, in its order, with the IVs that the encryptor chose.
    private func keys(of document: SPEKEDocument) async throws(PackagingRefusal) -> [PackagedKey] {
        let demands = document.keys.map { key in
            KeyDemand(
                KeyAddress(content: document.content, kid: key.kid), iv: key.explicitIV, scheme: document.scheme,
                tracks: document.contract.rules(of: key.kid), periods: key.periods)
        }
        let found: [KeyAddress: ContentKey]
        do { found = try await source.keys(for: demands) } catch let error as VaultError where error.isConflict {
            throw PackagingRefusal(error.reason, remedy: error.remedy)
        } catch { throw PackagingRefusal.keysUnavailable.caused(by: error) }
        var keys: [PackagedKey] = []
        for demand in demands {
            guard let key = found[demand.address] else { throw .keysUnavailable }
            keys.append(PackagedKey(demand, key))
        }
        return keys
    }

    private func fill(_ document: SPEKEDocument, _ keys: [PackagedKey], _ filling: SPEKEFilling) throws {
        let fairPlay = Set(document.systems.filter { $0.system == .fairPlay }.map(\.kid))
        var byKID: [KeyID: (PackagedKey, PackagingPolicy)] = [:]
        for (requested, key) in zip(document.keys, keys) {
            let policy = policy(key)
            byKID[key.address.kid] = (key, policy)
            // FairPlay's license carries the IV, so the media must be encrypted with a known one.
            let needsIV = document.scheme == .cbcs || fairPlay.contains(key.address.kid)
            try filling.fill(requested.element, with: key, needsIV: needsIV, policy: policy)
        }
        for requested in document.systems {
            guard let (key, policy) = byKID[requested.kid] else { throw PackagingRefusal.unknownKey(requested.kid) }
            let signaling = try DRMSignaling(
                requested.system, kid: requested.kid, key: key.content, content: document.content,
                scheme: document.scheme(for: requested.system), settings: settings)
            guard let signaling else { throw PackagingRefusal.clearKey }
            try filling.fill(requested.element, requested.system, with: signaling, policy: policy)
        }
        try filling.delivery?.fill()
    }

    private static func tree(_ body: Data) throws(PackagingRefusal) -> XMLTree {
        do { return try XMLTree(body) } catch {
            throw PackagingRefusal(error.reason, status: error.status, remedy: error.remedy)
        }
    }

    private static func headers(_ version: SPEKEVersion?, type: String) -> HTTPHeaders {
        var headers: HTTPHeaders = [.contentType: type, .cacheControl: "no-store"]
        headers[version == .version1 ? .spekeUserAgentVersion1 : .spekeUserAgent] = "Latchkey"
        if let version, version != .version1 { headers[.spekeVersion] = version.rawValue }
        return headers
    }
}

extension PackagingRefusal {
    fileprivate static let plainKeys = Self(
        "Keys in the clear are not allowed", remedy: "Send a DeliveryDataList with a registered certificate.")
    fileprivate static let clearKey = Self(
        "Clear Key is not enabled", remedy: "Configure the tenant's Clear Key URIs, or omit the system.")
}
