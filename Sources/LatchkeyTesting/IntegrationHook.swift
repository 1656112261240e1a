import Foundation
public import LatchkeyCore
@_spi(Integrations) public import LatchkeyVendors

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// A member of `VendorIntegration` that has a default, by its name.
@_spi(Integrations) public enum IntegrationHook: String, Sendable, Hashable, CaseIterable {
    case redaction
    case certificateURL
    case licenseURL
    case configuredURLs
    case lookupScope
    case lookupRequest = "lookupRequest(_:)"
    case lookup = "lookup(from:_:)"
    case sessionScope
    case sessionRequest = "sessionRequest(_:_:)"
    case session = "session(from:_:)"
    case sessionOpened = "session(openedBy:)"
    case renewal
    case sessionRenewal = "sessionRenewal(after:)"
    case contentIdentifier = "contentIdentifier(for:)"
    case certificateRequest = "certificateRequest(_:)"
    case bundledCertificate = "bundledCertificate()"
    case certificate = "certificate(from:)"
    case licenseURLForKey = "licenseURL(for:lookup:)"
    case licenseRequest = "licenseRequest(for:_:)"
    case advice = "advice(on:_:at:)"
    case license = "license(from:_:)"
}

/// Hooks of an integration that differ from its test's list.
@_spi(Integrations) public struct IntegrationHookMismatch: Error, Hashable {
    /// The hooks that should be the integration's own, but behave like their defaults.
    public let missing: Set<IntegrationHook>
    /// The hooks that are the integration's own, but were not named.
    public let unexpected: Set<IntegrationHook>
}

extension IntegrationHookMismatch: CustomStringConvertible {
    public var description: String {
        func list(_ hooks: Set<IntegrationHook>) -> String { hooks.map(\.rawValue).sorted().joined(separator: ", ") }
        var sentences: [String] = []
        if !missing.isEmpty {
            sentences.append(
                "These hooks do what their defaults do: \(list(missing)). Compare name, labels and types with those of VendorIntegration."
            )
        }
        if !unexpected.isEmpty { sentences.append("These hooks are the integration's own: \(list(unexpected)).") }
        return sentences.joined(separator: " ")
    }
}

@_spi(Integrations) extension VendorIntegration {
    /// Fails unless these hooks, and no others, are the integration's own.
    ///
    /// Every hook has a default, so a hook with a wrong name or wrong types compiles, and is never called. A test that names the hooks
    /// finds it.
    /// - Parameters:
    ///   - expected: All hooks that the integration implements, its stored properties included.
    ///   - key: A key URI as the vendor's playlists have it.
    ///   - credentials: The credentials that the integration gets when it asks for them.
    /// - Throws: `IntegrationHookMismatch`.
    public func checkHooks(
        _ expected: Set<IntegrationHook>, key: KeyURI = "skd://probe.example/movie-1?probe=1",
        credentials: CredentialSet = .token("probe")
    ) async throws(IntegrationHookMismatch) {
        let own = await ownHooks(key: key, credentials: credentials)
        guard own != expected else { return }
        throw IntegrationHookMismatch(missing: expected.subtracting(own), unexpected: own.subtracting(expected))
    }

    /// The hooks that behave differently from their defaults.
    ///
    /// Calls each hook with some inputs, and compares with an integration of the same identifier and addresses that has no hooks. Hooks
    /// keep their side effects: give the integration fakes of its dependencies. A hook that answers every input as its default does is not
    /// found; no other caller would see a difference either.
    /// - Parameters:
    ///   - key: A key URI as the vendor's playlists have it.
    ///   - credentials: The credentials that the integration gets when it asks for them.
    public func ownHooks(
        key: KeyURI = "skd://probe.example/movie-1?probe=1", credentials: CredentialSet = .token("probe")
    ) async -> Set<IntegrationHook> {
        let plain = WithoutHooks(identifier: identifier, certificateURL: certificateURL, licenseURL: licenseURL)
        var own: Set<IntegrationHook> = []
        for probe in IntegrationProbe.all(key: key, credentials: credentials) {
            let answers = await (probe.ask(self), probe.ask(plain))
            if answers.0 != answers.1 { own.insert(probe.hook) }
        }
        if certificateURL != nil { own.insert(.certificateURL) }
        if licenseURL != nil { own.insert(.licenseURL) }
        return own
    }
}

/// An integration with the same addresses and only default hooks.
private struct WithoutHooks: VendorIntegration {
    let identifier: String
    let certificateURL: URL?
    let licenseURL: URL?
}

/// A call of a hook, and its outcome in a form that can be compared.
private struct IntegrationProbe: Sendable {
    let hook: IntegrationHook
    private let call: @Sendable (any VendorIntegration) async throws -> AnyHashable

    private init(
        _ hook: IntegrationHook, _ call: @escaping @Sendable (any VendorIntegration) async throws -> AnyHashable
    ) {
        self.hook = hook
        self.call = call
    }

    func ask(_ integration: any VendorIntegration) async -> AnyHashable {
        do { return try await call(integration) } catch { return "\(type(of: error)): \(error)" }
    }

    static func all(key: KeyURI, credentials: CredentialSet) -> [Self] {
        let ask = { @Sendable () async throws -> CredentialSet in credentials }
        let license = LicenseContext(
            keyURI: key, contentIdentifier: ContentIdentifier("probe"), messageID: "probe", credentials: ask)
        let lookup = LookupContext(keyURI: key, messageID: "probe", credentials: ask)
        let session = SessionContext(messageID: "probe", credentials: ask)
        let granted = License(ckc: Secret(SampleBytes.ckc()), sideValues: ["sessionToken": Secret("probe")])
        var probes: [Self] = [
            Self(.redaction) { $0.redaction },
            Self(.configuredURLs) { $0.configuredURLs },
            Self(.lookupScope) { $0.lookupScope },
            Self(.lookupRequest) { text(try await $0.lookupRequest(lookup)) },
            Self(.sessionScope) { $0.sessionScope },
            Self(.sessionRequest) { text(try await $0.sessionRequest(.setup, session)) },
            Self(.sessionOpened) { $0.session(openedBy: granted) },
            Self(.renewal) { $0.renewal },
            Self(.sessionRenewal) { $0.sessionRenewal(after: granted) },
            Self(.contentIdentifier) { try $0.contentIdentifier(for: key) },
            Self(.certificateRequest) { text(try await $0.certificateRequest(CertificateContext(credentials: ask))) },
            Self(.bundledCertificate) { try $0.bundledCertificate() },
            Self(.licenseURLForKey) { $0.licenseURL(for: key, lookup: [:]) },
            Self(.licenseRequest) { text(try await $0.licenseRequest(for: SPCMessage(SampleBytes.spc), license)) },
            Self(.advice) { $0.advice(on: credentials, license, at: Date(timeIntervalSince1970: 4_000_000_000)) },
        ]
        for exchange in exchanges {
            probes += [
                Self(.lookup) { try $0.lookup(from: exchange, lookup) },
                Self(.session) { try $0.session(from: exchange, .setup) },
                Self(.certificate) { try $0.certificate(from: exchange) },
                Self(.license) { try $0.license(from: exchange, license) },
            ]
        }
        return probes
    }

    /// Replies of several forms: a certificate, a CKC, JSON with a CKC and without, a refusal.
    private static let exchanges: [HTTPExchange] = [
        (200, SampleBytes.certificate), (200, SampleBytes.ckc()), (200, Data("{}".utf8)),
        (200, Data(#"{"ckc": "\#(SampleBytes.ckc().base64EncodedString())"}"#.utf8)),
        (403, Data(#"{"code": "probe", "message": "probe"}"#.utf8)),
    ].map { status, body in
        HTTPExchange(
            request: URLRequest(url: URL(fileURLWithPath: "/")), reply: HTTPReply(status: status, body: body))
    }

    private static func text(_ request: URLRequest?) -> String {
        guard let request else { return "none" }
        let fields = (request.allHTTPHeaderFields ?? [:]).map { "\($0.key.lowercased()): \($0.value)" }.sorted()
        let body = request.httpBody.map { $0.base64EncodedString() } ?? ""
        return ([request.httpMethod ?? "", request.url?.absoluteString ?? ""] + fields + [body]).joined(separator: "\n")
    }
}
