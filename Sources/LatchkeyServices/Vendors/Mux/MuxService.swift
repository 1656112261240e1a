package import LatchkeyCore
package import LatchkeyDecision
package import LatchkeyForms
package import LatchkeyHTTP
package import LatchkeyMedia
package import LatchkeyVendorWire

/// Mux, with the vendor's own tokens, for certificates, too.
///
/// Status 200 with an empty body, which the real service sometimes sends, is the fault `emptyBody`.
///
/// Source: `Documentation/Vendors/Mux.md`.
package struct MuxService: VendorAPIService, SignedTokenService {
    package let environment: ServiceEnvironment
    /// The one playback ID that the service knows. Defaults to `nil`: any.
    package var playbackID: String?
    /// The playback IDs whose assets are still being prepared: 412.
    package var preparing: Set<String> = []
    /// The key that signs tokens, HS256, at most 64 bytes. Defaults to `nil`: any.
    package var signingKey: Secret?
    package let api = MuxAPI()

    /// The playback ID of the demonstration.
    private var demoID: String { playbackID ?? "latchkey-demo" }

    /// - Parameter environment: the service's dependencies.
    package init(_ environment: ServiceEnvironment) { self.environment = environment }

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

    /// The vendor documents statuses but no codes.
    package var documentedRefusals: [DocumentedRefusal] {
        [400, 403, 404, 412, 500].flatMap { DocumentedRefusal.all($0, at: [.license, .certificate], "\($0)") }
    }

    package func certificate(_ call: ServiceCall) throws(LicenseRefusal) -> HTTPResponse {
        _ = try token(of: call)
        return try call.certificateFile()
    }

    package func grant(
        _ token: String?, _ question: LicenseQuestion, _ call: ServiceCall
    ) throws(LicenseRefusal) -> VendorGrant {
        var grant = question.grant
        grant.terms = try self.token(of: call).terms
        return grant
    }

    private func token(of call: ServiceCall) throws(LicenseRefusal) -> MuxToken {
        let id = try api.playbackID(call)
        let text = try call.token(inQuery: "token")
        let token = try MuxToken(text, for: id, key: signingKey, date: call.date) {
            rule, words throws(LicenseRefusal) in try call.breach(of: rule, words)
        }
        guard playbackID.map({ $0 == id }) ?? true else { throw .unknownTenant("There is no such playback id.") }
        guard !preparing.contains(id) else {
            throw LicenseRefusal(
                .vendor(code: "notReady", status: 412), reason: "The asset is not ready.", remedy: "Try again later.")
        }
        return token
    }
}
