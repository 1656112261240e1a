import Foundation
import LatchkeyCore
import LatchkeyDecision
import LatchkeyFairPlay
import LatchkeyHTTP
import LatchkeyLicensees
package import LatchkeyLicensing
import LatchkeyVault

/// One configuration, built and checked. Immutable: a reload makes another one, and requests that run keep theirs.
package final class ServerState: Sendable {
    package let settings: ServerSettings
    /// The credentials of tenants without their own.
    let licensee: LicenseeSetup
    /// The credentials of tenants with their own.
    let licensees: [String: LicenseeSetup]
    let identities: ListenerIdentities
    /// Notices to operators at the start and on the console's first page.
    package let notices: [Notice]
    let policies: PolicySet
    /// The keys that wrap the tenants' data keys.
    let wrapping: KeyEncryptionKeys
    package let tenants: [String: Tenant]
    package let players: PlayerAPI
    /// The APIs for players that speak to a vendor.
    let vendors: VendorAPIs
    package let packagers: PackagerAPI
    let proxies: TrustedProxies
    let country: CountryField?
    /// The provider at which operators sign in; `nil` without one.
    let openID: OpenIDProvider?
    /// Which pages may read a tenant's replies.
    let pages: [String: CORSPolicy]
    /// Digests of the parts that all nodes have to have alike, by their names.
    let digests: [String: String]
    /// The tasks that fetch key sets as long as this configuration is in force.
    let backgroundTasks: [Task<Void, Never>]

    init(
        settings: ServerSettings, licensee: LicenseeSetup, licensees: [String: LicenseeSetup],
        identities: ListenerIdentities,
        notices: [Notice],
        policies: PolicySet, wrapping: KeyEncryptionKeys, tenants: [String: Tenant], players: PlayerAPI,
        vendors: VendorAPIs, packagers: PackagerAPI, proxies: TrustedProxies, country: CountryField?,
        openID: OpenIDProvider?, pages: [String: CORSPolicy], digests: [String: String],
        backgroundTasks: [Task<Void, Never>]
    ) {
        (self.settings, self.licensee, self.licensees) = (settings, licensee, licensees)
        (self.identities, self.notices) = (identities, notices)
        (self.policies, self.wrapping, self.tenants) = (policies, wrapping, tenants)
        (self.players, self.vendors, self.packagers) = (players, vendors, packagers)
        (self.proxies, self.country, self.openID) = (proxies, country, openID)
        (self.pages, self.digests, self.backgroundTasks) = (pages, digests, backgroundTasks)
    }

    /// Ends the background work of this configuration.
    func retire() {
        for task in backgroundTasks { task.cancel() }
    }

    /// The name of the tenant whose address a request has; `nil` for an address that no tenant has.
    func tenant(of request: HTTPRequest) -> String? {
        Self.tenantName(in: request.path).flatMap { tenants[$0]?.name }
    }

    /// The policy of pages for a request's tenant; `nil` where no page may ask.
    func pages(for request: HTTPRequest) -> CORSPolicy? {
        pages.isEmpty ? nil : Self.tenantName(in: request.path).flatMap { pages[$0] }
    }

    /// A reply as the pages of the request's tenant may read it.
    func forPages(_ response: HTTPResponse, to request: HTTPRequest) -> HTTPResponse {
        pages(for: request)?.allowing(response, for: request) ?? response
    }

    /// The methods of a player's path; empty for any other path.
    func methods(of request: HTTPRequest) -> [HTTPMethod] {
        vendors.methods(of: request) ?? players.methods(of: request)
    }

    /// The tenant's name after `/t/` in a path. As bytes, because characters cost ten times as much.
    private static func tenantName(in path: String) -> String? {
        let parts = path.utf8.split(separator: UInt8(ascii: "/"), maxSplits: 2)
        return parts.count > 1 && parts[0].elementsEqual("t".utf8) ? String(Substring(parts[1])) : nil
    }

    /// Whether a licensee's module makes CKCs. It has its own credentials.
    var hasModule: Bool { licensee.licenseeModule != nil || licensees.values.contains { $0.licenseeModule != nil } }

    /// All credentials, each with its tenant; `nil` for the server's.
    var credentials: [(tenant: String?, credential: CredentialSummary)] {
        licensee.credentials.map { (nil, $0) }
            + licensees.sorted { $0.key < $1.key }.flatMap { name, setup in setup.credentials.map { (name, $0) } }
    }

    /// The viewer's facts that a request's connection and headers reveal.
    func viewer(of request: HTTPRequest) -> LicenseRequestFacts {
        var viewer = LicenseRequestFacts()
        viewer.address = proxies.clientAddress(of: request)
        viewer.country = country?.country(of: request, through: proxies)
        viewer.userAgent = request.headers["User-Agent"].map { String($0.prefix(200)) }
        return viewer
    }
}

/// A notice to operators, one sentence.
package struct Notice: Sendable, Hashable {
    /// The tenant; `nil` for the whole server.
    package let tenant: String?
    package let text: String

    package init(_ text: String, of tenant: String? = nil) { (self.text, self.tenant) = (text, tenant) }
}
