import Foundation
import LatchkeyCore
import LatchkeyFaces
import LatchkeyFairPlay
import LatchkeyHTTP
import LatchkeyServer

/// One configuration, built and checked. Immutable: a reload makes another one, and requests that run keep theirs.
struct ServerState: Sendable {
    let settings: ServerSettings
    let licensee: LicenseeSetup
    let policies: PolicySet
    /// What wraps the tenants' data keys.
    let wrapping: KeyEncryptionKeys
    let tenants: [String: Tenant]
    let players: PlayerFace
    /// What players ask that speak to a vendor.
    let vendors: VendorFaces
    let packagers: PackagerFace
    let proxies: TrustedProxies
    let country: CountryField?
    /// Which pages may read a tenant's replies.
    let pages: [String: CORSPolicy]
    /// What fetches key sets as long as this configuration is in force.
    let upkeep: [Task<Void, Never>]

    /// Ends what goes on in the background for this configuration.
    func retire() {
        for task in upkeep { task.cancel() }
    }

    /// The name of the tenant whose address a request has; `nil` for an address that no tenant has.
    func tenant(of request: HTTPRequest) -> String? {
        let parts = request.path.split(separator: "/", maxSplits: 2)
        return parts.count > 1 && parts[0] == "t" ? tenants[String(parts[1])]?.name : nil
    }

    /// The policy of pages for a request's tenant; `nil` where no page may ask.
    func pages(for request: HTTPRequest) -> CORSPolicy? {
        let parts = request.path.split(separator: "/", maxSplits: 2)
        return parts.count > 1 && parts[0] == "t" ? pages[String(parts[1])] : nil
    }

    /// What a request's surroundings say of the viewer.
    func viewer(of request: HTTPRequest) -> LicenseAsk {
        var viewer = LicenseAsk()
        viewer.address = proxies.clientAddress(of: request)
        viewer.country = country?.country(of: request, through: proxies)
        viewer.userAgent = request.headers["User-Agent"].map { String($0.prefix(200)) }
        return viewer
    }
}
