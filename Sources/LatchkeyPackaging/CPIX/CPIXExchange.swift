package import Foundation
package import LatchkeyCore
package import LatchkeyDecision
import LatchkeyFairPlay
import LatchkeyForms
package import LatchkeyHTTP
package import LatchkeyVault

/// Keys in and out of a tenant's vault as CPIX documents over HTTP.
///
/// Source: `Documentation/LicenseServer.md` §3.
package struct CPIXExchange: Sendable {
    /// The result of a request, for the reply and the audit.
    package struct Outcome: Sendable {
        package let response: HTTPResponse
        /// The imported or exported keys.
        package let keys: [KeyAddress]
        /// The SHA-256 of each certificate to which keys were encrypted; empty for keys in clear.
        package let recipients: [[UInt8]]
        /// Why some keys were not imported; `nil` if no existing key conflicts with them.
        package var conflict: LicenseRefusal?
    }

    /// The header field with a recipient's certificate: DER in base64.
    package static let recipientField: HTTPHeaderName = "X-Recipient-Certificate"

    let vault: TenantVault
    /// The signaling that exports contain in addition to the keys.
    let signaling: SignalingSettings
    let allowsPlainKeys: Bool
    /// The SHA-256 of the only allowed recipients' certificates; none allows every certificate.
    let registered: Set<[UInt8]>
    /// The recipients whose private keys open imported encrypted keys.
    let recipients: [CPIXRecipient]

    /// The tenant's key URIs, which no content may make too long for FairPlay.
    var keyURI = KeyURITemplate.standard

    package init(
        vault: TenantVault, signaling: SignalingSettings, allowsPlainKeys: Bool, registered: Set<[UInt8]>,
        recipients: [CPIXRecipient], keyURI: KeyURITemplate = .standard
    ) {
        self.vault = vault
        self.signaling = signaling
        self.allowsPlainKeys = allowsPlainKeys
        self.registered = registered
        self.recipients = recipients
        self.keyURI = keyURI
    }

    /// An import's options besides adding keys.
    package struct Change: Sendable {
        /// The policies of all keys that are new.
        package var policies: [String] = []
        /// The content of keys for which the document states none.
        package var content: ContentName?
        /// The keys that replace existing keys with the same kids.
        package var replaced: Set<KeyID> = []

        package init() {}
    }

    /// Records a replacement in the audit before it is carried out, and then its result.
    package typealias Account =
        (KeyReplacement, _ carryOut: () async throws(LicenseRefusal) -> Void) async throws(LicenseRefusal) -> Void

    /// Imports the keys of a document. Existing keys stay as they are, unless the change names them.
    /// - Parameters:
    ///   - document: CPIX 2.3, 2.3.1 or 2.4 with keys in clear, or encrypted to one of the tenant's recipients; at most 256 KiB.
    ///   - change: policies, content, and keys to replace. Defaults to nothing.
    ///   - account: writes a replacement to the audit, and then carries it out. Defaults to carrying it out only.
    /// - Throws: why it is refused: the document's fault (400, 413, 422), or the store's (503). Then no key was imported, except keys that
    ///   were accounted for.
    package func importing(
        _ document: Data, _ change: Change = Change(),
        account: Account = { _, carryOut throws(LicenseRefusal) in try await carryOut() }
    ) async throws(LicenseRefusal) -> Outcome {
        let entries: [(demand: KeyDemand, key: ContentKey)]
        do throws(PackagingRefusal) {
            entries = try CPIXDocument(document, recipients: recipients, content: change.content).entries()
            for (number, entry) in entries.enumerated() {
                guard let objection = keyURI.objection(to: entry.demand.address.content) else { continue }
                throw .longContent("ContentKey \(number + 1)", objection)
            }
            let strangers = change.replaced.subtracting(entries.map(\.demand.address.kid))
            guard strangers.isEmpty else { throw .notInDocument(strangers) }
        } catch { throw LicenseRefusal(error) }
        var conflicts: Set<KeyID>
        do { conflicts = Set(try await vault.add(entries, policies: change.policies)) } catch {
            throw LicenseRefusal(cpix: error)
        }
        var replaced: [KeyID] = []
        for (demand, key) in entries where change.replaced.contains(demand.address.kid) {
            // An existing key that equals the document's needs no replacement.
            guard conflicts.contains(demand.address.kid) else { continue }
            try await replace(demand, key, change.policies, account)
            conflicts.remove(demand.address.kid)
            replaced.append(demand.address.kid)
        }
        return imported(entries.map(\.demand.address), replaced, conflicts)
    }

    private func replace(
        _ demand: KeyDemand, _ key: ContentKey, _ policies: [String], _ account: Account
    ) async throws(LicenseRefusal) {
        let replacement: KeyReplacement
        do { replacement = try await vault.replacement(by: demand, key, policies: policies) } catch {
            throw LicenseRefusal(cpix: error)
        }
        try await account(replacement) { () throws(LicenseRefusal) in
            do throws(VaultError) { try await vault.carryOut(replacement) } catch { throw LicenseRefusal(cpix: error) }
        }
    }

    private func imported(_ all: [KeyAddress], _ replaced: [KeyID], _ conflicts: Set<KeyID>) -> Outcome {
        let keys = all.filter { !conflicts.contains($0.kid) }
        let names = conflicts.map { "\($0)" }.sorted()
        var body: [String: JSONValue] = [
            "imported": .number(Double(keys.count)), "conflicts": .array(names.map { .text($0) }),
        ]
        if !replaced.isEmpty { body["replaced"] = .array(replaced.map { .text("\($0)") }) }
        if !conflicts.isEmpty {
            body["code"] = .text("cpixConflict")
            body["reason"] = .text(
                "Keys with these kids already exist with a different key, IV or content, and were kept.")
            body["remedy"] = .text(
                "Use new kids. To replace keys, an operator must send the document to "
                    + "/admin/v1/tenants/TENANT/cpix?replace=\(names.prefix(10).joined(separator: ",")).")
        }
        var outcome = Outcome(
            response: .json(.object(body), status: conflicts.isEmpty ? 200 : 409), keys: keys, recipients: [])
        if let first = names.first {
            let reason =
                "\(names.count) keys already exist with a different key, IV or content, and were kept: first, \(first)."
            outcome.conflict = .cpix("cpixConflict", reason, body["remedy"]?.text ?? "Use new kids.", 409)
        }
        return outcome
    }

    /// Exports the keys of a content that are not disabled.
    /// - Parameters:
    ///   - request: `?content=NAME`, maybe `&version=2.4`, `&systems=` with some of `fairplay`, `widevine`, `playready` and `clearkey`, or
    ///     `none` (else all that go with a key's scheme), and each recipient's certificate in `X-Recipient-Certificate`. Without a
    ///     certificate keys are written in clear, if the tenant allows that.
    /// - Throws: why it is refused.
    package func exporting(_ request: HTTPRequest) async throws(LicenseRefusal) -> Outcome {
        guard let content = request.queryValue("content").flatMap({ ContentName($0) }) else {
            throw .cpix("cpixContent", "The query has no content of 1 to 256 bytes.", "Add ?content=NAME.", 400)
        }
        let stated = request.queryValue("version") ?? CPIXDocument.Version.version2_3.rawValue
        guard let version = CPIXDocument.Version(rawValue: stated) else {
            throw .cpix("cpixVersion", "The version is neither 2.3 nor 2.4.", "Request one of these.", 400)
        }
        let systems = try systems(of: request)
        let recipients = try recipients(of: request)
        let document: CPIXDocument
        do { document = try await vault.document(of: content) } catch { throw LicenseRefusal(cpix: error) }
        guard !document.keys.isEmpty else {
            throw .cpix("cpixNoContent", "This content has no keys.", "Correct the content's name.", 404)
        }
        let data: Data
        do {
            data = try document.data(
                CPIXDocument.Export(
                    version: version, recipients: recipients.map(\.certificate),
                    signaling: (.fitting(systems), signaling)))
        } catch { throw LicenseRefusal(error) }
        let response = HTTPResponse(
            status: 200, headers: [.contentType: "application/xml", .cacheControl: "no-store"], body: .bytes(data))
        let keys = document.keys.map { KeyAddress(content: $0.content, kid: $0.kid) }
        return Outcome(response: response, keys: keys, recipients: recipients.map(\.digest))
    }

    /// The names of DRM systems in a query.
    private static let systemNames: [(name: String, system: DRMSystem)] = [
        ("fairplay", .fairPlay), ("widevine", .widevine), ("playready", .playReady), ("clearkey", .clearKey),
    ]

    private func systems(of request: HTTPRequest) throws(LicenseRefusal) -> [DRMSystem] {
        guard let stated = request.queryValue("systems") else { return Self.systemNames.map(\.system) }
        var systems: [DRMSystem] = []
        for name in stated.lowercased().split(separator: ",") where name != "none" {
            guard let found = Self.systemNames.first(where: { $0.name == name }) else {
                throw .cpix(
                    "cpixSystem", "The query names an unknown DRM system.",
                    "Use fairplay, widevine, playready or clearkey, separated by commas, or omit systems.", 400)
            }
            systems.append(found.system)
        }
        return systems
    }

    private func recipients(
        of request: HTTPRequest
    ) throws(LicenseRefusal) -> [(certificate: [UInt8], digest: [UInt8])] {
        var recipients: [(certificate: [UInt8], digest: [UInt8])] = []
        for value in request.headers.values(of: Self.recipientField) {
            guard let der = Data(base64Encoded: value), let digest = try? MessageDigest.sha256([UInt8](der)) else {
                throw .cpix(
                    "cpixRecipient", "A recipient's certificate is not base64.",
                    "Send the certificate's DER in base64, on one line.", 400)
            }
            guard registered.isEmpty || registered.contains(digest) else {
                throw .cpix(
                    "cpixRecipient", "A recipient's certificate is not registered for the tenant.",
                    "Add its SHA-256 to the tenant's recipients.", 403)
            }
            recipients.append(([UInt8](der), digest))
        }
        guard !recipients.isEmpty || allowsPlainKeys else {
            throw .cpix(
                "cpixPlain", "The tenant's keys are not delivered in the clear.",
                "Send the recipient's certificate in \(Self.recipientField).", 403)
        }
        return recipients
    }
}

extension PackagingRefusal {
    fileprivate static func notInDocument(_ kids: Set<KeyID>) -> Self {
        Self(
            cpix: "Replace",
            "The document has no key \(kids.map { "\($0)" }.sorted().joined(separator: ", ")) to use as a replacement.",
            remedy: "Use kids of the document's keys.")
    }
}

extension LicenseRefusal {
    fileprivate init(cpix error: VaultError) {
        self = .cpix(error.code, error.reason, error.remedy, error.isConflict ? 409 : 503)
    }

    static func cpix(_ code: String, _ reason: String, _ remedy: String, _ status: Int) -> LicenseRefusal {
        LicenseRefusal(.vendor(code: code, status: status), reason: reason, remedy: remedy)
    }
}
