import LatchkeyCore
package import LatchkeyDecision
import LatchkeyFairPlay
import LatchkeyPackaging
import LatchkeyVault
package import LatchkeyVendorWire

extension LicenseIssuer {
    /// Answers a vendor's request by the tenant's policy, as `license(_:of:_:)` does its own.
    ///
    /// A key that the request names is looked up before the SPC is opened, so that a wrong request costs no RSA. The tenant's own key URIs
    /// are read, too.
    /// - Parameter viewer: the viewer's facts known without the envelope.
    /// - Returns: the license; `nil` for a player that says that it stopped, and needs none.
    package func license(
        _ question: LicenseQuestion, of viewer: LicenseRequestFacts, _ tenant: Tenant, _ report: inout LicenseReport
    ) async throws(LicenseRefusal) -> License? {
        var (grant, viewer) = (question.grant.grant, viewer)
        switch question.credentials {
        case .checked:
            viewer.purpose = question.isStored ? .download : .stream
            report.end(.token, at: timekeeper.uptime)
            report.account = grant.account
        case .token(let token):
            if question.isStored { viewer.purpose = .download }
            grant = try await self.grant(token, of: tenant, &report)
        }
        var requested: VaultKey?
        if let name = question.key.name.flatMap({ KeyName($0, of: question.key.content(nil)) }) {
            requested = try await tenant.key(name)
        }
        report.kid = requested?.facts.id
        let spc = try await opened(Request(spc: question.spc, token: nil, viewer: viewer), grant, of: tenant)
        report.end(.open, at: timekeeper.uptime)
        let key = try await self.key(question.key, requested, sealedFor: spc.assetID, of: tenant)
        report.found(key)
        report.end(.key, at: timekeeper.uptime)
        if let objection = question.objection(VendorKey(key), spc.assetID) { throw objection }
        if case .checked(var granted) = question.credentials {
            try question.narrow(&granted, key.facts, spc.assetID)
            grant = granted.grant
        }
        var facts = try self.facts(viewer, spc, grant, key.facts, tenant)
        if case .token = question.credentials, let callout = tenant.callout { try await entitle(&facts, callout) }
        return try await license(spc, key, facts, tenant, &report)
    }

    /// The key that both request and SPC name.
    private func key(
        _ question: RequestedKey, _ requested: VaultKey?, sealedFor identifier: ContentIdentifier, of tenant: Tenant
    ) async throws(LicenseRefusal) -> VaultKey {
        let (template, uri) = (tenant.settings.keyURI, identifier.text.map { KeyURI($0) })
        let vendors =
            if let rule = question.nameInSPC { rule(identifier) } else { identifier.text.map(RequestedKey.part) }
        let name =
            uri.flatMap { template.reading(of: $0) ?? template.reading(of: KeyURI(template.scheme + $0.raw)) }
            .map { KeyName.kid($0.kid, $0.content) }
            ?? vendors.flatMap { KeyName($0, of: question.content(identifier)) }
        guard let name else {
            guard let requested else { throw .unknownKey(identifier.description) }
            return requested
        }
        let key = try await tenant.key(name)
        guard let requested, requested.facts.id != key.facts.id else { return requested ?? key }
        throw .contentMismatch(requested.facts.id?.description ?? "", identifier.description)
    }
}

extension VendorKey {
    fileprivate init(_ key: VaultKey) {
        self.init(key.content, key.facts) { [facts = key.facts] name in
            ContentName(name)?.written == facts.content || KeyID(name).map { $0 == facts.id } ?? false
        }
    }
}
