package import LatchkeyCore
package import LatchkeyDecision
package import LatchkeyMedia
package import LatchkeyVendorWire

/// Brightcove Video Cloud.
///
/// Source: `Documentation/Vendors/Brightcove.md`.
package struct BrightcoveService: VendorAPIService {
    package let environment: ServiceEnvironment
    /// The token that the service accepts. Defaults to `nil`: none is needed.
    package var token: Secret?
    package var api = BrightcoveAPI()

    /// - Parameter environment: the service's dependencies.
    package init(_ environment: ServiceEnvironment) { self.environment = environment }

    package var redaction: Redaction {
        Redaction(headers: ["bcov-auth"], fields: ["server_playback_context"])
    }

    package func keyURI(for key: StoredKey, at host: String) -> String { "skd://\(host)/\(identifier)/\(key.id)" }

    package func parameters(at base: String) -> [String: String] {
        let publisher = api.publisherID ?? "latchkey"
        return addresses(at: base).merging([
            "certificateURL": "\(base)/license/v1/fairplay_app_cert/\(publisher)", "publisherId": publisher,
            "applicationId": api.applicationID ?? "latchkey-demo",
        ]) { $1 }
    }

    package func demoToken() -> Secret { token ?? Secret("") }

    package var documentedRefusals: [DocumentedRefusal] {
        DocumentedRefusal.all(400, "DUPLICATE_PARAMETERS")
            + DocumentedRefusal.all(401, "TOKEN_REQUIRED TOKEN_VALIDATION")
            + DocumentedRefusal.all(
                403,
                """
                ACCOUNT_ID CLIENT_GEO CLIENT_IP DOMAIN OFFERS TAGS VIDEO_NOT_PLAYABLE DENIED_BY_STREAM_LIMIT_CREATE \
                DENIED_BY_STREAM_LIMIT_RENEW DENIED_BY_STREAM_LIMIT DENIED_BY_DEVICE_LIMITING
                """) + DocumentedRefusal.all(404, "VIDEO_NOT_FOUND")
    }

    package func grant(
        _ token: String?, _ question: LicenseQuestion, _ call: ServiceCall
    ) throws(LicenseRefusal) -> VendorGrant {
        if let expected = self.token, Secret(try call.token(inHeader: BrightcoveAPI.tokenFields[0])) != expected {
            throw LicenseRefusal(.tokenSignature, reason: "The token is not the configured one.")
        }
        var grant = question.grant
        if question.isStored { grant.terms = LicenseTerms(.persistent) }
        return grant
    }
}
