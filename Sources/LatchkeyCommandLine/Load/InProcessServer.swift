import Foundation
import LatchkeyCore
import LatchkeyDecision
import LatchkeyFairPlay
import LatchkeyForms
import LatchkeyHTTP
import LatchkeyLicensing
import LatchkeyVault

/// The license server's player API in this process, with a tenant named `load` whose tokens the load signs: measures the cost of a license
/// without a network.
struct InProcessServer: Sendable {
    let api: PlayerAPI
    let carrier: HandlerCarrier
    /// Signs the tenant's tokens.
    let signer: TokenSigner

    /// - Parameters:
    ///   - folder: the folder of test credentials, with their private key.
    ///   - policy: the tenant's policy.
    ///   - timekeeper: the time. Defaults to the machine's.
    init(_ folder: URL, policy: LoadPolicy, timekeeper: any Timekeeper = SystemTimekeeper()) async throws {
        let key = Secret.random(32)
        signer = try TokenSigner(.hs256, id: TokenKeyID("load"), secret: key)
        let set = Data(
            #"{"keys":[{"kty":"oct","kid":"load","alg":"HS256","k":"\#(Base64URL.text(key.revealed))"}]}"#.utf8)
        let source = KeySetSource.fetched(report: { _ in }) { set }
        try await source.reload()
        let store = MemorySealedKeyStore()
        let wrapping = KeyEncryptionKeys(try KeyEncryptionKey(id: "load", key: .random(32)))
        let settings = TenantSettings.demonstration(keySet: "", packagerKey: "")
        let secrets = try await TenantSecrets.create("load", in: store, with: wrapping)
        let tenant = Tenant(
            "load", settings, vault: TenantVault(secrets, store: store, settings: settings.vault), tokenKeys: source)
        let accounts = AccountSessions(
            accounts: MemoryRecordStore(timekeeper: timekeeper), secrets: [.random(32)], timekeeper: timekeeper)
        let module = KeyServerModule(
            credentials: [try KeyServerCredential(directory: folder)], derivation: InsecureTestDerivation())
        let issuer = LicenseIssuer(
            module: module, policies: policy.policies, accounts: accounts, pool: WorkerPool(), timekeeper: timekeeper)
        let api = PlayerAPI(issuer: issuer, accounts: accounts, tenants: ["load": tenant], timekeeper: timekeeper)
        self.api = api
        carrier = HandlerCarrier { request in
            await api.answer(APICall(request, requestID: "load", viewer: LicenseRequestFacts())).response
        }
    }

    /// The path of the tenant's licenses; the host is arbitrary.
    static let license = URL(string: "http://in-process/t/load/fairplay")
}

/// The only policy of a load's tenant.
struct LoadPolicy: Sendable {
    let policies: PolicySet

    /// - Parameter json: the policy's file; its name does not matter. `nil` is a lease of 5 minutes that counts nothing.
    /// - Throws: `JSONProblems`.
    init(_ json: Data?) throws {
        var bytes = json ?? Data(#"{"version": 1, "validity": {"type": "lease", "lease": "5m"}}"#.utf8)
        // The tenant names it; a policy that extends another refers to another file.
        if case .object(var members)? = JSONValue(bytes) {
            members["name"] = nil
            bytes = try JSONEncoder().encode(JSONValue.object(members))
        }
        policies = try PolicySet(["demo": bytes])
    }

    /// The policy.
    var policy: Policy { policies["demo"] ?? Policy() }
}
