package import Foundation
package import LatchkeyCore
package import LatchkeyDecision
import LatchkeyFairPlay
package import LatchkeyOperation
import LatchkeyPackaging
package import LatchkeyVault

extension LicenseIssuer {
    /// A license request in a vendor's envelope, read and with its token checked.
    package struct VendorLicenseRequest: Sendable {
        package var spc: Data
        /// What is known of the viewer without the SPC.
        package var viewer: LicenseRequestFacts
        /// What the token grants.
        package var grant: VendorGrant
        /// What the request names the key by; `nil` if only the SPC does.
        package var named: KeyName?
        /// What a content identifier names the key by; `nil` if it names none.
        package var nameInSPC: @Sendable (ContentIdentifier) -> KeyName?
        /// Why the token does not cover a key, given the SPC's content identifier; `nil` if it does.
        package var objection: @Sendable (VaultKey, ContentIdentifier) -> LicenseRefusal?
        /// Narrows the grant to what the token says of a key, given the SPC's content identifier.
        package var narrow: Narrow

        package typealias Narrow =
            @Sendable (inout VendorGrant, KeyFacts, ContentIdentifier) throws(LicenseRefusal) -> Void

        package init(
            spc: Data, viewer: LicenseRequestFacts, grant: VendorGrant, named: KeyName? = nil,
            nameInSPC: @escaping @Sendable (ContentIdentifier) -> KeyName?,
            objection: @escaping @Sendable (VaultKey, ContentIdentifier) -> LicenseRefusal? = { _, _ in nil },
            narrow: @escaping Narrow = { _, _, _ in }
        ) {
            self.spc = spc
            self.viewer = viewer
            self.grant = grant
            self.named = named
            self.nameInSPC = nameInSPC
            self.objection = objection
            self.narrow = narrow
        }
    }

    /// Answers a vendor's request by the tenant's policy, as `license(_:of:_:)` does its own.
    ///
    /// A key that the request names is looked up before the SPC is opened, so that a wrong request costs no RSA. The tenant's own key URIs
    /// are read, too.
    /// - Returns: the license; `nil` for a player that says that it stopped, and needs none.
    package func license(
        _ request: VendorLicenseRequest, of tenant: Tenant, _ report: inout LicenseReport
    ) async throws(LicenseRefusal) -> License? {
        let grant = request.grant.grant
        report.end(.token, at: timekeeper.uptime)
        report.account = grant.account
        var requested: VaultKey?
        if let name = request.named { requested = try await tenant.key(name) }
        report.kid = requested?.facts.id
        let context = try await opened(Request(spc: request.spc, token: nil, viewer: request.viewer), grant, of: tenant)
        report.end(.open, at: timekeeper.uptime)
        let key = try await self.key(request, requested, sealedFor: context.assetID, of: tenant)
        report.found(key)
        report.end(.key, at: timekeeper.uptime)
        if let objection = request.objection(key, context.assetID) { throw objection }
        var granted = request.grant
        try request.narrow(&granted, key.facts, context.assetID)
        let facts = try self.facts(request.viewer, context, granted.grant, key.facts, tenant)
        return try await license(context, key, facts, tenant, &report)
    }

    /// The key that both request and SPC name.
    private func key(
        _ request: VendorLicenseRequest, _ requested: VaultKey?, sealedFor identifier: ContentIdentifier,
        of tenant: Tenant
    ) async throws(LicenseRefusal) -> VaultKey {
        let uri = identifier.text.map { KeyURI($0) }
        let name =
            uri.flatMap { tenant.settings.keyURI.reading(of: $0) }.map { KeyName.kid($0.kid, $0.content) }
            ?? request.nameInSPC(identifier)
        guard let name else {
            guard let requested else { throw .unknownKey(identifier.description) }
            return requested
        }
        let key = try await tenant.key(name)
        guard let requested, requested.facts.id != key.facts.id else { return requested ?? key }
        throw .contentMismatch(requested.facts.id?.description ?? "", identifier.description)
    }
}
