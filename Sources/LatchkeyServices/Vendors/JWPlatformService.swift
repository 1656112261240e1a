import Foundation
package import LatchkeyCore
package import LatchkeyDecision
import LatchkeyForms
import LatchkeyHTTP
package import LatchkeyVendorWire

/// JW Platform's Studio DRM: a delivery document with signed addresses, which lead to certificate and raw licenses.
///
/// All keys of the server belong to one medium. A signed address opens one key: that of the medium's name, otherwise the server's first.
///
/// Source: `Documentation/Vendors/JWPlatform.md`.
package struct JWPlatformService: VendorAPIService, SignedTokenService {
    package let environment: ServiceEnvironment
    /// The one medium of the service. Defaults to `nil`: any.
    package var mediaID: String?
    /// The one policy of the service. Defaults to `nil`: any.
    package var policyID: String?
    /// The playlist in the delivery document, from the host's root.
    package var playlist = "/media/jw-platform/ts/master.m3u8"
    /// How long a signed address is valid. Defaults to 600 s.
    package var addressLifetime = Duration.seconds(600)
    /// The key that signs delivery tokens, HS256, at most 64 bytes. Defaults to `nil`: any.
    package var signingKey: Secret?
    package let api = JWPlatformAPI()
    /// Signs the addresses; new with every service.
    private let addressKey = Secret((0..<32).map { _ in UInt8.random(in: .min ... .max) })

    /// - Parameter environment: the service's dependencies.
    package init(_ environment: ServiceEnvironment) { self.environment = environment }

    package var routes: [ServiceRoute] {
        [.endpoint(.delivery, [.get, .head], "/v2/media/{medium}/drm/{policy}", delivery)] + wireRoutes
    }

    package func parameters(at base: String) -> [String: String] {
        // The service does not see whether its host has TLS, so the delivery request states it.
        let scheme = base.hasPrefix("https:") ? "?scheme=https" : ""
        return ["deliveryURL": "\(base)/v2/media/\(mediaID ?? "latchkey")/drm/\(policyID ?? "latchkey")\(scheme)"]
    }

    package var tokenKeys: [String: Secret] { signingKey.map { ["apiSecret": $0] } ?? [:] }

    /// The grant of a signed address, whose signature is the token.
    package func grant(
        _ token: String?, _ question: LicenseQuestion, _ call: ServiceCall
    ) throws(LicenseRefusal) -> VendorGrant {
        guard let token, !token.isEmpty else { throw .tokenMissing("the signed address") }
        let address = try JSONWebToken.checked(token, key: addressKey, date: .distantPast)
        if call.date.timeIntervalSince1970 >= address.claims["exp"]?.number ?? 0 {
            try call.breach(of: JWPlatformAPI.addressAge, "The address has expired.")
        }
        guard address.claims["content"]?.text == call.request.queryValue("content") else {
            throw .notCovered("The address is signed for another key.")
        }
        return question.grant
    }
}

extension JWPlatformService {
    private func delivery(_ call: ServiceCall) throws(LicenseRefusal) -> HTTPResponse {
        let medium = call.path["medium"]
        guard (mediaID ?? medium) == medium, (policyID ?? call.path["policy"]) == call.path["policy"] else {
            throw LicenseRefusal(
                .vendor(code: "notFound", status: 404), reason: "There is no such medium or policy.",
                remedy: "Check the delivery URL.")
        }
        _ = try checked(call.token(inQuery: "token"))
        let keys = environment.keys
        guard let key = keys.hasKey(named: medium) ? medium : keys.keys.first?.id.description else {
            throw .malformed("The server has no keys.")
        }
        return .json(document(for: key, call))
    }

    /// `playlist[0].sources[0]` with `file` and `drm.fairplay`.
    private func document(for key: String, _ call: ServiceCall) -> [String: JSONValue] {
        let origin = call.origin
        let content = key.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? key
        let fairPlay: [String: JSONValue] = [
            "certificateUrl": .text("\(origin)/\(identifier)/fairplay/application-certificate"),
            "processSpcUrl": .text(
                "\(origin)/\(identifier)/fairplay/process-spc?token=\(address(of: key).revealedText)&content=\(content)"
            ),
        ]
        let source: [String: JSONValue] = [
            "file": .text(origin + playlist), "type": .text("application/vnd.apple.mpegurl"),
            "drm": .object(["fairplay": .object(fairPlay)]),
        ]
        return ["playlist": .array([.object(["sources": .array([.object(source)])])])]
    }

    /// The signed values of a license address: the key and the expiry.
    private func address(of key: String) -> Secret {
        let end = environment.time.date.timeIntervalSince1970.rounded() + addressLifetime.inSeconds
        return Secret(
            JSONWebToken.text(claims: .object(["content": .text(key), "exp": .number(end)]), key: addressKey))
    }
}
