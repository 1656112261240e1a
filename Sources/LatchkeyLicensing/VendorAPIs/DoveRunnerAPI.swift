package import Foundation
package import LatchkeyCore
package import LatchkeyDecision
package import LatchkeyHTTP
import LatchkeyVault
import LatchkeyVendorWire

/// DoveRunner's wire, for a tenant. Errors of licenses have status 200, as at the vendor.
///
/// Source: `Documentation/Vendors/DoveRunner.md`.
package struct DoveRunnerAPI: VendorAPI {
    package let name = VendorAPIName.doveRunner
    private let settings: VendorAPISettings.DoveRunner
    private let accessKey: Secret
    private let siteKey: Secret

    /// - Parameters:
    ///   - settings: what the configuration states.
    ///   - accessKey: what tokens are hashed with.
    ///   - siteKey: what policies are encrypted with, 32 bytes.
    package init(_ settings: VendorAPISettings.DoveRunner, accessKey: Secret, siteKey: Secret) {
        self.settings = settings
        self.accessKey = accessKey
        self.siteKey = siteKey
    }

    package var routes: [Route<VendorEndpoint>] {
        [
            VendorEndpoint.certificate("/ri/fpsKeyManager.do"), VendorEndpoint.certificate("/ri/fpsCert.do"),
            VendorEndpoint.license("/ri/licenseManager.do"),
        ]
    }

    package func certificate(
        _ certificate: Data, for call: VendorAPICall
    ) throws(LicenseRefusal) -> HTTPResponse {
        guard call.request.queryValue("siteId") == settings.site else { throw .unknownTenant("There is no such site.") }
        return call.request.path.hasSuffix("fpsCert.do")
            ? .octets(certificate) : .text(certificate.base64EncodedString())
    }

    package func licenseRequest(_ call: VendorAPICall) throws(LicenseRefusal) -> LicenseIssuer.VendorLicenseRequest {
        let text = try DoveRunnerToken.text(in: call.request)
        let token = try DoveRunnerToken(text, key: accessKey, siteKey: siteKey)
        guard token.siteID == settings.site else { throw .unknownTenant("There is no such site.") }
        let expiry = try Self.expiry(of: token.timestamp, settings.tokenLife, at: call.date)
        let (spc, asset) = try call.doveRunnerBody()
        var grant = VendorGrant(tokenID: Self.digest(of: text))
        (grant.account, grant.issued, grant.expires) = (token.userID, token.timestamp, expiry)
        grant.terms = try token.terms(at: call.date)
        grant.tracks = try token.tracks()
        let (outputs, external) = (try token.outputs(), try token.externalKeys())
        grant.use = settings.isSingleUse ? .session : .any
        return LicenseIssuer.VendorLicenseRequest(
            spc: spc, viewer: call.viewer(grant.terms?.isPersistable == true ? .download : .stream), grant: grant,
            named: asset.flatMap { KeyName($0) },
            nameInSPC: { $0.text.flatMap { KeyName(KeyURI($0).remainder) } },
            objection: { key, identifier in
                if let objection = external.objection(to: key) { return objection }
                guard let content = token.contentID else { return .notCovered("The token has no “cid”.") }
                let names = [KeyURI(identifier.description).remainder, key.facts.content]
                if names.contains(content) { return nil }
                if let kid = KeyID(content), kid == key.facts.id { return nil }
                return .notCovered("The token's “cid” is not the content of the SPC.")
            },
            narrow: { grant, key, _ in grant.output = outputs[key.track] ?? VendorOutput() })
    }

    package func reply(_ license: LicenseIssuer.License) -> HTTPResponse { .ckc(license.ckc.revealed, in: .base64) }

    package func reply(to refusal: LicenseRefusal, at endpoint: VendorEndpoint.Kind) -> HTTPResponse {
        guard let error = DoveRunnerError(refusal) else { return .plain(refusal) }
        return .json(error.json)
    }
}
