import Foundation
package import LatchkeyCore
package import LatchkeyDecision
package import LatchkeyForms
package import LatchkeyHTTP
package import LatchkeyMedia
import LatchkeyVendorWire

/// Mux: certificate and raw licenses from URLs that end in the playback ID and carry the token.
///
/// Status 200 with an empty body, which the real service sends at times, is the fault `emptyBody`.
///
/// Source: `Documentation/Vendors/Mux.md`.
package struct MuxService: SignedTokenService {
    package let identifier: ServiceIdentifier = "mux"
    package let environment: ServiceEnvironment
    /// The one playback ID that the service knows. Defaults to `nil`: any.
    package var playbackID: String?
    /// The playback IDs whose assets are still being prepared: 412.
    package var preparing: Set<String> = []
    /// The key that signs tokens, HS256, at most 64 bytes. Defaults to `nil`: any.
    package var signingKey: Secret?

    /// The playback ID of the demonstration.
    private var demoID: String { playbackID ?? "latchkey-demo" }

    /// - Parameter environment: what the service needs.
    package init(_ environment: ServiceEnvironment) { self.environment = environment }

    package var routes: [ServiceRoute] {
        [.certificate("/appcert/fairplay/{id}", certificate), .license("/license/fairplay/{id}", license)]
    }

    /// The vendor's session token in the URI is opaque. Here it names the key, because all keys have the same playback ID.
    package func keyURI(for key: StoredKey, at host: String) -> String {
        "skd://\(host)/\(identifier)/?playbackId=\(demoID)&token=\(key.id.bytes.hexString)"
    }

    package func parameters(at base: String) -> [String: String] {
        [
            "certificateURL": "\(base)/appcert/fairplay/\(demoID)",
            "licenseURL": "\(base)/license/fairplay/\(demoID)", "playbackId": demoID,
        ]
    }

    package var usualClaims: [String: JSONValue] { ["sub": .text(demoID), "aud": .text("d")] }

    /// The vendor documents statuses and no codes.
    package var documentedRefusals: [DocumentedRefusal] {
        [400, 403, 404, 412, 500].flatMap { DocumentedRefusal.all($0, at: [.license, .certificate], "\($0)") }
    }

    package func reply(to refusal: LicenseRefusal, of call: ServiceCall) -> HTTPResponse {
        .text("\(refusal.code): \(refusal.reason)", status: Self.status(of: refusal))
    }
}

extension MuxService {
    private func certificate(_ call: ServiceCall) throws(LicenseRefusal) -> HTTPResponse {
        _ = try token(of: call)
        return try call.certificateFile()
    }

    private func license(_ call: ServiceCall) async throws(LicenseRefusal) -> HTTPResponse {
        let token = try token(of: call)
        let playbackID = call.path["id"]
        let keys = environment.keys
        let key = RequestedKey.namedInSPC { identifier in
            let session = Self.uri(identifier).queryValue("token") ?? ""
            return keys.hasKey(named: session) ? session : playbackID
        }
        let question = LicenseQuestion(spc: try call.rawSPC(), key: key, terms: token.terms) { _, identifier in
            guard let stated = Self.uri(identifier).queryValue("playbackId"), stated != playbackID else { return nil }
            return .notCovered("The SPC is for another playback id than the URL.")
        }
        return .octets(try await call.ckc(for: question))
    }

    /// The whole key URI, with or without its scheme. One client leaves a zero byte in front of the latter.
    private static func uri(_ identifier: ContentIdentifier) -> KeyURI {
        KeyURI(String((identifier.text ?? "").drop { $0 == "\0" }))
    }

    private func token(of call: ServiceCall) throws(LicenseRefusal) -> MuxToken {
        let id = call.path["id"]
        guard id.isMadeOfLettersDigits(and: "_-", limit: 128) else { throw .malformed("That is no playback id.") }
        let text = try call.token(inQuery: "token")
        let token = try MuxToken(text, for: id, key: signingKey, date: environment.time.date)
        guard playbackID.map({ $0 == id }) ?? true else {
            throw .unknownTenant("There is no such playback id.")
        }
        guard !preparing.contains(id) else {
            throw LicenseRefusal(
                .vendor(code: "notReady", status: 412), reason: "The asset is not ready.", remedy: "Try again later.")
        }
        return token
    }

    /// The statuses that the vendor documents: 400 for a missing token or a wrong ID, 403 for tokens and unknown IDs.
    private static func status(of refusal: LicenseRefusal) -> Int {
        switch refusal.kind {
        case .tokenMissing: 400
        case .tokenMalformed, .tokenExpired, .tokenNotYetValid, .tokenSignature, .unknownKey, .ambiguousKey: 403
        default: refusal.status
        }
    }
}
