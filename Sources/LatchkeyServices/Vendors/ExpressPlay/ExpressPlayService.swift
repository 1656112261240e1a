import Foundation
package import LatchkeyCore
package import LatchkeyDecision
import LatchkeyForms
package import LatchkeyHTTP
package import LatchkeyMedia
import LatchkeyVendorWire

/// ExpressPlay (Adobe Primetime Cloud DRM): licenses by token URL, the entitlement server that issues such URLs, the token service, an app's
/// own server in front of it, and an on-premise license server. A token can register the device that plays with it, or be bound to one.
///
/// Source: `Documentation/Vendors/ExpressPlay.md`.
package struct ExpressPlayService: VendorService {
    package let identifier: ServiceIdentifier = "expressplay"
    package let environment: ServiceEnvironment
    /// Whether the entitlement server allows anything. Defaults to `true`.
    package var entitles = true
    /// Whether the entitlement server repeats the request's `messageID`, as documented. Defaults to `true`.
    package var echoesMessageID = true
    /// Whether the app's own server answers in JSON. Defaults to `false`: as a list of addresses.
    package var answersJSON = false
    /// The `customerAuthenticator` of the token service. Defaults to `nil`: any.
    package var customerAuthenticator: Secret?
    /// How long a token is valid. Default and maximum: 30 days.
    package var tokenLifetime = Duration.seconds(30 * 86_400)
    /// Seals the tokens; new with every service.
    let sealingKey = Secret((0..<32).map { _ in UInt8.random(in: .min ... .max) })
    /// The devices that playback has registered.
    let devices = ExpressPlayDevices()
    private let playlistTokens = Locked<[KeyID: (token: Secret, renewal: Date)]>([:])

    /// - Parameter environment: what the service needs.
    package init(_ environment: ServiceEnvironment) { self.environment = environment }

    package var redaction: Redaction {
        Redaction(queryItems: ["ExpressPlayToken", "customerAuthenticator", "contentKey", "kek", "ek"])
    }

    package var routes: [ServiceRoute] {
        [
            // Apps bundle the certificate or configure a file of their own; the vendor has no path.
            .certificate("/expressplay/fairplay.cer"),
            .license("/hms/fp/rights/", license),
            .endpoint(.token, [.get, .post], "/hms/fp/token", tokenURL),
            .endpoint(.entitlement, [.post], "/sees/SEESServlet", entitlement),
            // Deployment specific.
            .endpoint(.token, [.get], "/app/token-url", appTokenURL),
            .endpoint(.onPremise, [.post], "/on-premise/license", onPremiseLicense),
        ]
    }

    /// Token URL and content ID in one, so that clients of every strategy find theirs.
    package func keyURI(for key: StoredKey, at host: String) -> String {
        "skd://\(host)/\(identifier)/hms/fp/rights/?ExpressPlayToken=\(playlistToken(for: key.id).revealedText)&cid=\(key.id)"
    }

    /// The same token in all playlists of a stream, as a packager writes it: a key URI that changed with every load of a playlist would
    /// name another key. Half of its lifetime later a new one.
    private func playlistToken(for id: KeyID) -> Secret {
        let now = environment.time.date
        return playlistTokens.withLock { tokens in
            if let known = tokens[id], known.renewal > now { return known.token }
            let token = token(for: id)
            tokens[id] = (token, now + lifetime.inSeconds / 2)
            return token
        }
    }

    package func parameters(at base: String) -> [String: String] {
        // The service does not see whether its host has TLS, so the entitlement request says it.
        let scheme = base.hasPrefix("https:") ? "?scheme=https" : ""
        return [
            "certificateURL": "\(base)/expressplay/fairplay.cer", "certificate": environment.inlineCertificate,
            "licenseURL": "\(base)/on-premise/license", "entitlementURL": "\(base)/sees/SEESServlet\(scheme)",
            "tokenServerURL": "\(base)/app/token-url\(scheme)",
        ]
    }

    /// A customer cookie for the entitlement server, which accepts any. Licenses need token URLs.
    package func demoToken() -> Secret { Secret("latchkey") }

    private var lifetime: Duration { environment.tokenLifetime ?? tokenLifetime }

    /// A token for a key.
    /// - Parameters:
    ///   - id: the key.
    ///   - lifetime: how long the token is valid. Defaults to the service's token lifetime.
    ///   - rental: the time within which playback may start. Defaults to no limit.
    package func token(for id: KeyID, lifetime: Duration? = nil, rental: Duration? = nil) -> Secret {
        token(for: id, lifetime: lifetime, rental: rental, binding: .timeBased)
    }

    func token(
        for id: KeyID, lifetime: Duration? = nil, rental: Duration? = nil, binding: ExpressPlayBinding
    ) -> Secret {
        let end = environment.time.date.timeIntervalSince1970 + (lifetime ?? self.lifetime).inSeconds
        let token = ExpressPlayToken(
            keyID: id, expiry: UInt64(max(0, min(end, 1e12))), rental: UInt32(max(0, min(rental?.inSeconds ?? 0, 4e9))),
            binding: binding)
        return Secret(token.text(key: sealingKey))
    }

    package var documentedRefusals: [DocumentedRefusal] { ExpressPlayError.documented }

    package func reply(to refusal: LicenseRefusal, of call: ServiceCall) -> HTTPResponse {
        let error = ExpressPlayError(refusal)
        if call.endpoint == .entitlement { return denial(error, refusal.reason, of: call) }
        guard call.request.queryValue("errorFormat")?.lowercased() == "json" else {
            // Repeats nothing of the request.
            let page = "<html><body><p>Error \(error.code)</p></body></html>"
            return HTTPResponse(status: error.status, contentType: "text/html", bytes: Data(page.utf8))
        }
        return .json(
            ["errorCode": .number(Double(error.code)), "errorMessage": .text(refusal.reason)], status: error.status)
    }
}

extension ExpressPlayService {
    private func license(_ call: ServiceCall) async throws(LicenseRefusal) -> HTTPResponse {
        guard let token = ExpressPlayToken(try call.token(inQuery: "ExpressPlayToken"), key: sealingKey) else {
            throw .tokenMalformed("The token is not one of this service.")
        }
        guard environment.time.date.timeIntervalSince1970 < Double(token.expiry) else {
            throw .tokenExpired("The token's time is over.")
        }
        let terms = token.rental == 0 ? nil : LicenseTerms(.rental(.seconds(Int64(token.rental))))
        // The token names the key. The app may put any content identifier into the SPC.
        let key = RequestedKey.named(token.keyID.description) { _ in nil }
        let question = LicenseQuestion(spc: try call.rawSPC(), key: key, terms: terms)
        let license = try await call.license(for: question)
        try check(license.deviceIdentifier, against: token.binding)
        return .octets(call.ckc(of: license))
    }

    /// Registers the device of a license, or compares it with the one that the token is for.
    ///
    /// Only the opened SPC names the device, so the license is made before; a refused one is not sent.
    private func check(_ identifier: Secret, against binding: ExpressPlayBinding) throws(LicenseRefusal) {
        let device = ExpressPlayBinding.digest(identifier)
        switch binding {
        case .timeBased: break
        case .registration(let cookie): devices.register(device, for: cookie)
        case .deviceBound(let bound):
            guard bound == device else { throw Self.notAuthenticated("The token is bound to another device.") }
        }
    }

    /// The key by the URL's `cid`, otherwise by the content identifier.
    private func onPremiseLicense(_ call: ServiceCall) async throws(LicenseRefusal) -> HTTPResponse {
        let name: @Sendable (ContentIdentifier) -> String? = { identifier in
            guard let text = identifier.text else { return nil }
            let uri = KeyURI(text.contains("?") || !text.hasPrefix("cid=") ? text : "?\(text)")
            return uri.queryValue("cid") ?? text
        }
        let key = call.request.queryValue("cid").map { RequestedKey.named($0, inSPC: name) } ?? .namedInSPC(name)
        return .octets(try await call.ckc(for: LicenseQuestion(spc: try call.rawSPC(), key: key)))
    }
}
