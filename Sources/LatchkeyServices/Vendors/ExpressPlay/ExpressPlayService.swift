import Foundation
package import LatchkeyCore
package import LatchkeyDecision
package import LatchkeyHTTP
package import LatchkeyMedia
package import LatchkeyVendorWire

/// ExpressPlay (Adobe Primetime Cloud DRM): licenses by token URL, the entitlement server that issues such URLs, the token service, an app's
/// own server in front of it, and an on-premise license server. A token can register the device that plays with it, or be bound to one.
///
/// Source: `Documentation/Vendors/ExpressPlay.md`.
package struct ExpressPlayService: VendorAPIService {
    package let environment: ServiceEnvironment
    /// Whether the entitlement server allows playback. Defaults to `true`.
    package var entitles = true
    /// Whether the entitlement server repeats the request's `messageID`, as documented. Defaults to `true`.
    package var echoesMessageID = true
    /// Whether the app's own server answers in JSON. Defaults to `false`: as a list of addresses.
    package var answersJSON = false
    /// The `customerAuthenticator` of the token service. Defaults to `nil`: any.
    package var customerAuthenticator: Secret?
    /// How long a token is valid. Default and maximum: 30 days.
    package var tokenLifetime = Duration.seconds(30 * 86_400)
    package let api = ExpressPlayAPI()
    /// Seals the tokens; new with every service.
    let sealingKey = Secret((0..<32).map { _ in UInt8.random(in: .min ... .max) })
    /// The devices that playback has registered.
    let devices = ExpressPlayDevices()
    private let playlistTokens = Locked<[KeyID: (token: Secret, renewal: Date)]>([:])

    /// - Parameter environment: the service's dependencies.
    package init(_ environment: ServiceEnvironment) { self.environment = environment }

    package var redaction: Redaction {
        Redaction(queryItems: ["ExpressPlayToken", "customerAuthenticator", "contentKey", "kek", "ek"])
    }

    package var routes: [ServiceRoute] {
        // The on-premise server is a separate endpoint here.
        wireRoutes.dropLast() + [
            .endpoint(.token, [.get, .post], "/hms/fp/token", tokenURL),
            .endpoint(.entitlement, [.post], "/sees/SEESServlet", entitlement),
            // Deployment specific.
            .endpoint(.token, [.get], "/app/token-url", appTokenURL),
            .endpoint(.onPremise, [.post], ExpressPlayAPI.onPremise, license),
        ]
    }

    /// Token URL and content ID in one, so that clients of every strategy find theirs.
    package func keyURI(for key: StoredKey, at host: String) -> String {
        "skd://\(host)/\(identifier)/hms/fp/rights/?ExpressPlayToken=\(playlistToken(for: key.id).revealedText)&cid=\(key.id)"
    }

    /// The same token in all playlists of a stream, as a packager writes it: a key URI that changed with every load of a playlist would
    /// name another key. A new one is made after half of its lifetime.
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
        // The service does not see whether its host has TLS, so the entitlement request states it.
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

    package var documentedRefusals: [DocumentedRefusal] {
        let numbers =
            [
                -2002, -2003, -2005, -2017, -2018, -2019, -2027, -2031, -2033, -2036, -2037, -3004, -4001, -4010, -4024,
                -5003,
            ]
            + [-2025] + Array(-2023 ... -2020) + Array(-4022 ... -4018) + Array(-6009 ... -6001)
        return numbers.flatMap { code in
            DocumentedRefusal.all(
                ExpressPlayError.status(of: code), at: [.license, .onPremise, .token, .entitlement], "\(code)")
        }
    }

    package func reply(to refusal: LicenseRefusal, of call: ServiceCall) -> HTTPResponse {
        call.endpoint == .entitlement
            ? denial(ExpressPlayError(refusal, isOfLicense: false), refusal.reason, of: call)
            : api.reply(to: refusal, of: call, isOfLicense: call.endpoint != .token)
    }
}

extension ExpressPlayService {
    package func question(_ call: ServiceCall) throws(LicenseRefusal) -> LicenseQuestion {
        var question = try api.licenseRequest(call)
        guard let token = try sentToken(call) else { return question }
        guard environment.time.date.timeIntervalSince1970 < Double(token.expiry) else {
            throw .tokenExpired("The token has expired.")
        }
        // The token names the key. The app may put any content identifier into the SPC.
        question.key = .named(token.keyID.description) { _ in nil }
        question.grant.terms = token.rental == 0 ? nil : LicenseTerms(.rental(.seconds(Int64(token.rental))))
        return question
    }

    /// The token of a token URL; `nil` at the on-premise server, which needs none.
    private func sentToken(_ call: ServiceCall) throws(LicenseRefusal) -> ExpressPlayToken? {
        guard call.endpoint == .license else { return nil }
        guard let token = ExpressPlayToken(try call.token(inQuery: "ExpressPlayToken"), key: sealingKey) else {
            throw .tokenMalformed("The token is not one of this service.")
        }
        return token
    }

    /// Registers the device of a license, or compares it with the token's device.
    ///
    /// Only the opened SPC names the device, so the license is made first; a refused one is not sent.
    package func reply(_ license: IssuedLicense, to call: ServiceCall) throws(LicenseRefusal) -> HTTPResponse {
        let device = ExpressPlayBinding.digest(license.deviceIdentifier)
        switch try sentToken(call)?.binding {
        case .timeBased, nil: break
        case .registration(let cookie): devices.register(device, for: cookie)
        case .deviceBound(let bound):
            if bound != device {
                try call.breach(of: ExpressPlayAPI.boundDevice, "The token is bound to another device.")
            }
        }
        return api.reply(call.ckc(of: license), on: license.terms, to: call)
    }
}
