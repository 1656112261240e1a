import Foundation
@_spi(Integrations) import Latchkey

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// An operator's own license service: it accepts signed JSON with a token, and answers with JSON.
struct HouseKeys: VendorIntegration {
    let identifier = "house"
    let certificateURL: URL?
    let licenseURL: URL?
    /// Signs a body, with a key on the app's own server.
    let sign: @Sendable (Data) async throws -> String

    /// Hides this header, in addition to `Authorization`, which is always hidden.
    var redaction: Redaction { Redaction(headers: ["x-signature"]) }

    /// `skd://movie-1` names the content `movie-1`.
    func contentIdentifier(for key: KeyURI) throws -> ContentIdentifier { ContentIdentifier(key.remainder) }

    func licenseRequest(for spc: SPCMessage, _ context: LicenseContext) async throws -> URLRequest {
        guard let licenseURL else { throw IntegrationError(.missingSetting, "The license service has no address.") }
        guard let token = try await context.credentials().values["token"] else {
            throw IntegrationError(.missingSetting, "The license service needs a token.")
        }
        let body = try JSONEncoder().encode(
            Challenge(
                spc: spc.bytes.revealed, title: context.keyURI.remainder, isStored: context.purpose == .persistable))
        var request = URLRequest(url: licenseURL)
        request.httpMethod = "POST"
        request.setValue("application/json", forHTTPHeaderField: "Content-Type")
        request.setValue("Bearer \(token.revealedText)", forHTTPHeaderField: "Authorization")
        request.setValue(try await sign(body), forHTTPHeaderField: "X-Signature")
        request.httpBody = body
        return request
    }

    func license(from exchange: HTTPExchange, _ context: LicenseContext) throws -> License {
        // Any status but 200 is a refusal, with the service's own code and words.
        try ErrorRules(code: [.json("error")], message: [.json("message")]).check(exchange.reply)
        guard let grant = try? JSONDecoder().decode(Grant.self, from: exchange.reply.body) else {
            throw IntegrationError(.licenseMalformed, "The reply is not the JSON that the service documents.")
        }
        return License(ckc: Secret(grant.ckc), terms: LicenseTerms(.lease(.seconds(grant.lease))))
    }

    private struct Challenge: Encodable {
        let spc: Data
        let title: String
        let isStored: Bool
    }

    private struct Grant: Decodable {
        let ckc: Data
        let lease: Int
    }
}

/// Keys of the operator's service for any player.
func houseLoader(
    certificate: URL, license: URL, sign: @escaping @Sendable (Data) async throws -> String,
    token: @escaping @Sendable () async throws -> String
) -> ContentKeyLoader {
    ContentKeyLoader(
        HouseKeys(certificateURL: certificate, licenseURL: license, sign: sign),
        credentials: .token { _ in try await token() })
}
