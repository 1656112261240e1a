import Foundation
package import LatchkeyCore
package import LatchkeyDecision
import LatchkeyForms
package import LatchkeyHTTP
package import LatchkeyVendorWire

/// DoveRunner, formerly PallyCon: the certificate in base64 and in DER form, licenses for form requests, and errors with status 200.
///
/// Source: `Documentation/Vendors/DoveRunner.md`.
package struct DoveRunnerService: VendorService {
    package let identifier: ServiceIdentifier = "doverunner"
    package let environment: ServiceEnvironment
    /// The four characters of the one site that the service accepts. Defaults to `nil`: any.
    package var siteID: String?
    /// The site's access key, which is hashed into every token. Defaults to `nil`: any hash.
    package var accessKey: Secret?
    /// How old a token may be; it may not be from the future either. `nil` accepts any time. Defaults to 600 s, as documented.
    package var tokenLifetime: Duration? = .seconds(600)
    /// The status of errors. Defaults to 200: documented for certificates, not stated for licenses.
    package var errorStatus = 200
    /// Whether the errors of the license endpoint stand in the message of an error 8002. Defaults to `false`.
    package var nestsErrors = false
    /// How the CKC is written. The vendor's page lists tags, too. Defaults to base64.
    package var ckc = CKCEnvelope.base64

    /// The site of the demonstration.
    private var site: String { siteID ?? "DEMO" }

    /// - Parameter environment: what the service needs.
    package init(_ environment: ServiceEnvironment) { self.environment = environment }

    package var redaction: Redaction { Redaction(headers: [DoveRunnerToken.field]) }

    package var routes: [ServiceRoute] {
        [
            .certificate("/ri/fpsKeyManager.do") { call async throws(LicenseRefusal) in
                try certificate(call) { .text($0.base64EncodedString()) }
            },
            .certificate("/ri/fpsCert.do") { call async throws(LicenseRefusal) in
                try certificate(call) { .octets($0) }
            },
            .license("/ri/licenseManager.do", license),
        ]
    }

    package func parameters(at base: String) -> [String: String] {
        [
            "certificateURL": "\(base)/ri/fpsKeyManager.do?siteId=\(site)",
            "licenseURL": "\(base)/ri/licenseManager.do", "siteId": site,
        ]
    }

    package func demoToken() -> Secret { token() }

    package var tokenKeys: [String: Secret] {
        accessKey.map { ["siteId": Secret(site), "accessKey": $0] } ?? [:]
    }

    /// A token made now, for all content unless its claims have a `cid`.
    /// - Parameter claims: a JSON object with claims in place of the usual ones; any other text counts as no claims. A readable
    ///   policy is the base64 of a JSON object with `persistent`, `license_duration` and so on.
    package func token(claims: String = "{}") -> Secret {
        var members: [String: JSONValue] = [
            "drm_type": "FairPlay", "site_id": site, "user_id": "latchkey", "policy": "AAAAAAAAAAAAAAAAAAAAAA==",
            "timestamp": environment.time.date.formatted(.iso8601), "response_format": "original",
        ].mapValues { .text($0) }
        if case .object(let stated) = JSONValue(Data(claims.utf8)) { members.merge(stated) { $1 } }
        let hash =
            accessKey.map { DoveRunnerToken.hash(of: .object(members), key: $0) } ?? Data(count: 32)
        members["hash"] = members["hash"] ?? .text(hash.base64EncodedString())
        return Secret((HTTPResponse.json(members).bytes ?? Data()).base64EncodedString())
    }

    /// Source: `Documentation/Vendors/DoveRunner.md`, P4.
    package var documentedRefusals: [DocumentedRefusal] {
        DocumentedRefusal.all(errorStatus, at: [.license, .certificate], "1003 7301")
            + DocumentedRefusal.all(
                errorStatus,
                "7001 7009 7011 7012 7016 7018 7019 7304 7305 7308 7316 7317 8002 8710 8711 9001 9999")
    }

    package func reply(to refusal: LicenseRefusal, of call: ServiceCall) -> HTTPResponse {
        guard let error = DoveRunnerError(refusal) else { return .plain(refusal) }
        var status = errorStatus
        if case .vendor(_, let told) = refusal.kind, told != 200 { status = told }
        let nests = call.endpoint == .license && (nestsErrors || error.code == "8002")
        return .json(nests ? error.nested : error.json, status: status)
    }
}

extension DoveRunnerService {
    /// How many seconds the clock of a token's maker may be fast. The number is ours.
    private static let clockDifference = 60.0

    private func certificate(
        _ call: ServiceCall, _ reply: (Data) -> HTTPResponse
    ) throws(LicenseRefusal) -> HTTPResponse {
        guard let sent = call.request.queryValue("siteId"), !sent.isEmpty else {
            throw .malformed("The query has no “siteId”.")
        }
        try checkSite(sent)
        guard environment.authority.certificate != nil else {
            throw .doveRunner("7301", "The site has no FairPlay certificate.")
        }
        return reply(try call.certificate())
    }

    private func license(_ call: ServiceCall) async throws(LicenseRefusal) -> HTTPResponse {
        let text = try DoveRunnerToken.text(in: call.request)
        let token = try checked(text)
        let (spc, asset) = try call.doveRunnerBody()
        let keys = environment.keys
        let key = asset.map { RequestedKey.named($0, inSPC: { keys.name(in: $0) }) } ?? .namedInSPC
        let terms = try token.terms(at: environment.time.date)
        let question = LicenseQuestion(spc: spc, key: key, terms: terms) { key, identifier in
            guard let content = token.contentID, content != KeyURI(identifier.description).remainder else { return nil }
            if case .one(let found) = keys.key(named: content), found.id == key.id { return nil }
            return .notCovered("The token's “cid” is not the content of the SPC.")
        }
        return .ckc(try await call.ckc(for: question), in: ckc)
    }

    private func checked(_ text: String) throws(LicenseRefusal) -> DoveRunnerToken {
        let token = try DoveRunnerToken(text, key: accessKey)
        try checkSite(token.siteID)
        let age = environment.time.date.timeIntervalSince(token.timestamp)
        if tokenLifetime != nil, age < -Self.clockDifference {
            throw .tokenNotYetValid("The token's “timestamp” is still to come.")
        }
        if let limit = environment.tokenLifetime ?? tokenLifetime, age > limit.inSeconds {
            throw .tokenExpired(
                "The token is \(Int(saturating: min(age, 1e9))) s old; it was good for \(Int(saturating: limit.inSeconds)) s."
            )
        }
        return token
    }

    private func checkSite(_ id: String) throws(LicenseRefusal) {
        guard id.count == 4, siteID.map({ $0 == id }) ?? true else {
            throw .unknownTenant("There is no site “\(id.prefix(20))”.")
        }
    }
}
