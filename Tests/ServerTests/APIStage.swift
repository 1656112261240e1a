import Foundation
import LatchkeyCore
import LatchkeyDevice
import LatchkeyFairPlay
import LatchkeyTesting
import SwitchedStores
import Testing

@testable import LatchkeyDecision
@testable import LatchkeyForms
@testable import LatchkeyHTTP
@testable import LatchkeyLicensees
@testable import LatchkeyLicensing
@testable import LatchkeyVault

/// A tenant with its APIs, a device, and a token service.
struct APIStage {
    static let kid = "a0b1c2d3-e4f5-0617-2839-4a5b6c7d8e9f"
    static let packagerKey = "packager-1"
    /// The keys of a service that may take slots, and of another tenant's.
    static let serviceKey = "service-1", strangerKey = "service-2"

    let time = ManualTimekeeper(date: Date(timeIntervalSince1970: 1_767_225_600))
    let players: PlayerAPI
    let packagers: PackagerAPI
    let accounts: AccountSessions
    /// The session store, available or not.
    let sessions: SwitchedRecordStore
    let device: SimulatedDevice
    let vault: TenantVault
    let tenant: Tenant
    private let signer: TokenSigner
    private let applicationSecret: Secret

    /// - Parameters:
    ///   - policy: the members of the tenant's policy.
    ///   - settings: further members of the tenant's configuration.
    ///   - more: more policies, by their names.
    ///   - unlisted: the treatment of keys that no packager got. Defaults to keys that players may ask for.
    ///   - pool: the threads for RSA. Defaults to two.
    ///   - randomness: makes the generators for CKCs. Defaults to libcrypto's.
    ///   - licensee: the server's own credentials, and the licensee's module that makes the CKCs. Defaults to no module.
    ///   - ask: the answer of the operator's own service; without it, there is none.
    init(
        _ policy: String = #""validity":{"type":"lease","lease":"5m"}"#, settings stated: String = "",
        policies more: [String: String] = [:], unlisted: TenantVault.Unlisted = .derive,
        pool: WorkerPool = WorkerPool(threads: 2),
        randomness: LicenseIssuer.Randomness? = nil,
        licensee: ((TestCredentials) async throws -> (own: [KeyServerCredential], module: LicenseeModule))? = nil,
        callout ask: (@Sendable (EntitlementQuestion) async throws -> EntitlementCallout<Grant>.Answer)? = nil
    ) async throws {
        let credentials = try Self.credentials.get()
        let licensee = try await licensee?(credentials)
        let module = KeyServerModule(
            credentials: licensee?.own ?? [credentials.credential], derivation: InsecureTestDerivation())
        device = try SimulatedDevice(
            certificate: credentials.credential.certificate, applicationSecret: credentials.applicationSecret,
            timekeeper: time)
        applicationSecret = credentials.applicationSecret
        signer = try TokenSigner(.hs256, id: TokenKeyID("key"), secret: Secret([UInt8](repeating: 9, count: 32)))
        let file = try TemporaryFolder()
        try Data(Self.keySet.utf8).write(to: URL(filePath: file.path("jwks.json")))
        let source = KeySetSource.file(URL(filePath: file.path("jwks.json"))) { _ in }
        try await source.reload()

        let digest = try MessageDigest.sha256(Array(Self.packagerKey.utf8)).hexString
        let json = """
            {"version":1,"tenants":{"acme":{"policy":"standard",
             "packagers":[{"name":"encoder","apiKey":"\(digest)"}]\(stated.isEmpty ? "" : "," + stated)}}}
            """
        let settings = try #require(ServerSettings(json: Data(json.utf8)).tenants["acme"])
        let wrapping = KeyEncryptionKeys(try KeyEncryptionKey(id: "kek", key: .random(32)))
        let store = MemorySealedKeyStore()
        var vaultSettings = TenantVault.Settings()
        vaultSettings.unlisted = unlisted
        vault = TenantVault(
            try await TenantSecrets.create("acme", in: store, with: wrapping), store: store, settings: vaultSettings,
            timekeeper: time)
        let time = time
        let callout = ask.map { ask in EntitlementCallout(outage: .allow, timekeeper: time, transport: ask) }
        tenant = Tenant("acme", settings, vault: vault, tokenKeys: source, callout: callout)
        sessions = SwitchedRecordStore(timekeeper: time)
        accounts = AccountSessions(accounts: sessions, secrets: [.random(32)], timekeeper: time)
        let policies = try PolicySet(
            more.merging(["standard": policy]) { $1 }.reduce(into: [:]) { files, one in
                files[one.key] = Data(#"{"version":1,"name":"\#(one.key)",\#(one.value)}"#.utf8)
            })
        let issuer = LicenseIssuer(
            module: module, licenseeModule: licensee?.module, policies: policies, accounts: accounts, pool: pool,
            timekeeper: time,
            randomness: randomness)
        let callers = CallerDirectory(
            try [
                (Self.packagerKey, "encoder", "acme", [.readSPEKE, .readCommonEncryption]),
                (Self.serviceKey, "widevine", "acme", [.takeSlots]), (Self.strangerKey, "other", "other", [.takeSlots]),
            ].map { (key: String, name: String, tenant: String, rights: Set<CallerRight>) in
                .init(
                    try CallerCredential(.apiKey, secret: Secret(key)),
                    Caller(name: name, tenant: tenant, rights: rights))
            })
        players = PlayerAPI(
            issuer: issuer, accounts: accounts, tenants: ["acme": tenant], callers: callers, timekeeper: time)
        packagers = PackagerAPI(tenants: ["acme": tenant], callers: callers, timekeeper: time)
    }

    // Making a key pair is slow; all stages share one.
    private static let credentials = Result { try TestCredentials.make(bits: 1_024) }
    private static let keySet =
        #"{"keys":[{"kty":"oct","kid":"key","alg":"HS256","k":"\#(Base64URL.text([UInt8](repeating: 9, count: 32)))"}]}"#

    /// A viewer's token.
    func token(_ claims: [String: JSONValue] = [:], for viewer: String = "anna") throws -> String {
        let now = time.date.timeIntervalSince1970
        let usual: [String: JSONValue] = [
            "sub": .text(viewer), "jti": .text("t-\(viewer)"), "iat": .number(now), "exp": .number(now + 300),
        ]
        return try signer.token(usual.merging(claims) { $1 }).revealedText
    }

    /// A key request of the device, or of another one with its own playback session.
    func exchange(_ uri: String = "skd://movie/\(kid)", session: UInt64 = 1, _ options: SPCOptions = SPCOptions())
        throws
        -> KeyExchange
    {
        var options = options
        options.playbackSession = PlaybackSessionID(rawValue: session)
        var generator = SeededGenerator(seed: session)
        // Each session has its own device: a device replaces its own session without a question.
        let device = try SimulatedDevice(
            certificate: device.certificate, applicationSecret: applicationSecret,
            identifier: Secret([UInt8](repeating: UInt8(truncatingIfNeeded: session), count: 20)), timekeeper: time)
        return try device.exchange(for: ContentIdentifier(uri), options: options, using: &generator)
    }

    /// Asks a player's address.
    func ask(
        _ path: String = "fairplay", _ body: Data = Data(), method: HTTPMethod = .post, token: String? = nil,
        headers: HTTPHeaders = [:], tenant: String = "acme", viewer: LicenseRequestFacts = LicenseRequestFacts()
    ) async -> APIAnswer {
        var headers = headers
        headers[.authorization] = token.map { "Bearer \($0)" }
        let request = HTTPRequest(method: method, target: "/t/\(tenant)/\(path)", headers: headers, body: body)
        return await players.answer(APICall(request, requestID: "request-1", viewer: viewer))
    }
}

extension APIAnswer {
    var body: Data { response.bytes ?? Data() }
    var json: JSONValue? { JSONValue(body) }
    /// The refusal's code.
    var code: String? { json?["error"]?["code"]?.text }
}
