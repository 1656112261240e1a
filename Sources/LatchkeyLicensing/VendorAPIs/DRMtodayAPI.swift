package import Foundation
package import LatchkeyCore
package import LatchkeyDecision
package import LatchkeyHTTP
import LatchkeyVault
import LatchkeyVendorWire

/// DRMtoday's wire, for a tenant. A license needs the token; custom data alone, which nobody signs, are not enough.
///
/// Source: `Documentation/Vendors/DRMtoday.md`.
package struct DRMtodayAPI: VendorAPI {
    package let name = VendorAPIName.drmToday
    private let settings: VendorAPISettings.DRMtoday
    private let key: Secret

    /// - Parameters:
    ///   - settings: what the configuration states.
    ///   - key: signs tokens, HS512, at most 64 bytes.
    package init(_ settings: VendorAPISettings.DRMtoday, key: Secret) {
        self.settings = settings
        self.key = key
    }

    package var routes: [Route<VendorEndpoint>] {
        [
            VendorEndpoint.license("/license-server-fairplay/"),
            VendorEndpoint.certificate("/license-server-fairplay/cert"),
            VendorEndpoint.certificate("/license-server-fairplay/cert/{merchant}"),
        ]
    }

    package func certificate(
        _ certificate: Data, for call: VendorAPICall
    ) throws(LicenseRefusal) -> HTTPResponse {
        let merchant = call.path["merchant"]
        guard merchant.isEmpty || merchant == settings.merchant else {
            throw .unknownTenant("There is no such merchant.")
        }
        return HTTPResponse.octets(certificate).goodOfDRMtoday
    }

    package func licenseRequest(_ call: VendorAPICall) throws(LicenseRefusal) -> LicenseIssuer.VendorLicenseRequest {
        let text = try call.token(inHeader: DRMtodayToken.field)
        let token = try DRMtodayToken(text, key: key, date: call.date)
        guard token.merchant == settings.merchant else { throw .unknownTenant("There is no such merchant.") }
        guard let issued = token.issued else { throw .tokenMalformed("The token has no “iat”.") }
        let expiry = try Self.expiry(of: issued, settings.tokenLife, at: call.date)
        let form = try call.form()
        let spc = try call.spc(in: form)
        let isOffline = (call.request.queryValue("offline") ?? form["offline"]) == "true"
        guard !isOffline || token.storesLicenses else {
            throw .notCovered("The token does not let licenses be stored.")
        }
        var grant = VendorGrant(tokenID: token.number)
        (grant.account, grant.session) = (token.userID, token.sessionID)
        (grant.issued, grant.expires) = (issued, expiry)
        grant.use = settings.isSingleUse ? .session : .any
        let (asset, variant) = (form["assetId"], form["variantId"])
        let limits = try token.limits()
        return LicenseIssuer.VendorLicenseRequest(
            spc: spc, viewer: call.viewer(isOffline ? .download : .stream), grant: grant,
            named: (form["keyId"] ?? asset).flatMap { KeyName($0, of: asset) },
            nameInSPC: { identifier in
                let named = DRMtodayAsset(identifier)
                return named.keyName.flatMap { KeyName($0, of: named.assetID) }
            },
            objection: { key, identifier in
                let named = DRMtodayAsset(identifier)
                if let asset = asset ?? named.assetID, !asset.isName(of: key.facts) {
                    return .notCovered("The key is not one of the asset's.")
                }
                return token.objection(toAsset: asset ?? named.assetID, variant: variant ?? named.variantID)
            },
            narrow: { grant, _, identifier throws(LicenseRefusal) in
                // The app says which variant it wants, and the server's keys have none: the limits of all count.
                let named = asset ?? DRMtodayAsset(identifier).assetID
                let covering = limits.filter { $0.right.covers(asset: named) }
                guard !isOffline || covering.allSatisfy(\.right.storesLicense) else {
                    throw .notCovered("The token does not let licenses of the asset be stored.")
                }
                let limit = covering.reduce(DRMtodayRight.Limits()) { $0.joined(with: $1.limits) }
                grant.output = limit.output
                grant.terms = try limit.terms(isStored: isOffline, at: call.date)
            })
    }

    package func reply(_ license: LicenseIssuer.License) -> HTTPResponse {
        HTTPResponse.ckc(license.ckc.revealed, in: .base64).goodOfDRMtoday
    }

    package func reply(to refusal: LicenseRefusal, at endpoint: VendorEndpoint.Kind) -> HTTPResponse {
        .drmToday(refusal)
    }
}

extension String {
    /// Whether an asset is a key's content, or the key itself. The app says both, and the store finds a key by its kid alone.
    fileprivate func isName(of key: KeyFacts) -> Bool {
        ContentName(self)?.written == key.content || KeyID(self).map { $0 == key.id } ?? false
    }
}

extension KeyName {
    /// A key's name, with the asset as its content where that is no kid, too.
    fileprivate init?(_ text: String, of asset: String?) {
        guard let name = KeyName(text) else { return nil }
        guard case .kid(let kid, _) = name, let asset, KeyID(asset) == nil else {
            self = name
            return
        }
        self = .kid(kid, ContentName(asset))
    }
}
