import Foundation
package import LatchkeyCore
package import LatchkeyDecision
package import LatchkeyVault

/// The outcome of one request, for logs, metrics and `explain`. Holds no token, no SPC and no key.
package struct LicenseReport: Sendable {
    /// The tenant; `nil` for an address that no tenant has.
    package var tenant: String?
    /// The request's endpoint, such as `fairplay` or `speke`.
    package let endpoint: RequestEndpoint
    package let requestID: String
    package var outcome = RequestOutcome.ok
    /// Why the token was refused, which the client does not learn.
    package var tokenError: TokenError?
    package var kid: KeyID?
    /// The account that the token names, also where it came to no decision; and the session that a heartbeat is of.
    package var account, session: String?
    /// Where the key came from; `nil` before there is one.
    package var keyOrigin: KeyOrigin?
    /// For how long the license holds; `nil` without one, or if it does not end.
    package var lease: Duration?
    /// The packager that asked; `nil` for players.
    package var caller: String?
    /// The system that a slot is for; `nil` where the endpoint says it.
    package var drm: LicenseRequestFacts.DRM?
    /// The version of a packager's protocol.
    package var protocolVersion = ""
    /// The keys that a packager got.
    package var keys: [KeyAddress] = []
    /// The SHA-256 of each certificate that a packager's keys were encrypted to; empty for keys in clear.
    package var recipients: [[UInt8]] = []
    /// The decision with everything that it depended on.
    @CopyOnWrite package var record: DecisionRecord? = nil
    /// How long each part took.
    package private(set) var stages: [(stage: LicenseStage, duration: Duration)] = []
    /// When the request came, by the uptime clock.
    package let began: Duration
    private var since: Duration

    package init(tenant: String?, endpoint: RequestEndpoint, requestID: String, at uptime: Duration) {
        self.tenant = tenant
        self.endpoint = endpoint
        self.requestID = requestID
        began = uptime
        since = uptime
    }

    /// The key was found.
    package mutating func found(_ key: VaultKey) {
        kid = key.facts.id ?? kid
        keyOrigin = key.facts.origin
    }

    /// The reason for the refusal, for operators; `nil` without a refusal. The client may see less.
    package var reason: String? { tokenError?.reason ?? refusal?.reason }

    /// The refusal; `nil` without one.
    package var refusal: LicenseRefusal? { outcome.refusal }

    /// Ends a stage; the next one begins.
    package mutating func end(_ stage: LicenseStage, at uptime: Duration) {
        stages.append((stage, max(.zero, uptime - since)))
        since = uptime
    }
}
