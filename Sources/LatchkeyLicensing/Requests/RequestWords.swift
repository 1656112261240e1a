package import LatchkeyDecision
package import LatchkeyVendorWire

/// The endpoint of a request, as logs, metrics and operators name it.
package enum RequestEndpoint: Sendable, Hashable {
    /// A license for FairPlay, in the server's own form.
    case fairPlay
    /// Keys for Clear Key.
    case clearKey
    case certificate, heartbeat, session
    /// A slot for a license that another service makes.
    case slot, slotDescription
    case speke, spekeHeartbeat, commonEncryption, cpixImport, cpixExport
    case vendor(VendorAPIName, VendorEndpoint)
    /// An address without an endpoint.
    case none

    /// The name in metrics, logs and the record.
    package var name: String {
        switch self {
        case .fairPlay: "fairplay"
        case .clearKey: "clearkey"
        case .certificate: "certificate"
        case .heartbeat: "heartbeat"
        case .session: "session"
        case .slot: "slot"
        case .slotDescription: "slot-description"
        case .speke: "speke"
        case .spekeHeartbeat: "speke-heartbeat"
        case .commonEncryption: "common-encryption"
        case .cpixImport: "cpix-import"
        case .cpixExport: "cpix-export"
        case .vendor(let vendor, .license): vendor.rawValue
        case .vendor(let vendor, .certificate): "\(vendor.rawValue)-certificate"
        case .none: "none"
        }
    }

    /// Whether a license or a slot is requested, not a certificate, a heartbeat or keys for a packager.
    package var isLicense: Bool {
        switch self {
        case .fairPlay, .clearKey, .slot, .vendor(_, .license): true
        default: false
        }
    }

    /// The system of its licenses; a slot's request names its own.
    package var drm: LicenseRequestFacts.DRM { self == .clearKey ? .clearKey : self == .slot ? .other : .fairPlay }

    /// The label `protocol` of the packagers' metric.
    package var packagerProtocol: PackagerProtocol {
        switch self {
        case .speke, .spekeHeartbeat: .speke
        case .commonEncryption: .commonEncryption
        case .cpixImport, .cpixExport: .cpix
        default: .none
        }
    }
}

/// A packager's protocol; `none` for an address without an endpoint.
package enum PackagerProtocol: String, Sendable, Hashable, CaseIterable {
    case speke
    case commonEncryption = "common-encryption"
    case cpix, none
}

/// The outcome of a request. A refusal always has its reason.
package enum RequestOutcome: Sendable, Equatable {
    /// An answer without a license, such as a certificate.
    case ok
    /// With a license, or a slot for one.
    case license
    /// The request needs no license, such as the end of a playback.
    case acknowledge
    case refused(LicenseRefusal)

    /// `ok`, `license`, `acknowledge`, or the refusal's code.
    package var word: String {
        switch self {
        case .ok: "ok"
        case .license: "license"
        case .acknowledge: "acknowledge"
        case .refused(let refusal): refusal.code
        }
    }

    /// The refusal; `nil` without one.
    package var refusal: LicenseRefusal? {
        guard case .refused(let refusal) = self else { return nil }
        return refusal
    }
}

/// Why a license was given with less than the policy asks for. The raw values are stable.
package enum Degradation: String, Sendable, Hashable, CaseIterable {
    /// Without a slot, a device or a download that was counted: the store of sessions did not answer.
    case sessionStore
    /// Without a look whether the token was used at another node.
    case tokenStore
    /// Without the place of the viewer.
    case geo
    /// Without the operator's own service, which did not answer.
    case callout
    /// By an earlier answer of the operator's own service, which does not answer now.
    case calloutMemory
    /// With a key that may have been disabled: the store cannot say now.
    case staleKey
    /// With a key out of the node's own copy.
    case copiedKey

    /// The degradation of a license during an engine's outage.
    init(_ engine: Engine) {
        switch engine {
        case .sessionStore: self = .sessionStore
        case .tokenStore: self = .tokenStore
        case .geo: self = .geo
        case .callout: self = .callout
        }
    }

    /// Everything that a license lacks.
    /// - Parameters:
    ///   - report: the outcome of the request.
    ///   - isCalloutAway: whether the operator's own service does not answer now.
    package static func all(in report: LicenseReport, isCalloutAway: Bool) -> [Degradation] {
        guard report.outcome == .license else { return [] }
        let outages = report.record?.facts.account.outages ?? []
        var found = Set(outages.map { Degradation($0) })
        if isCalloutAway, !outages.contains(.callout) { found.insert(.calloutMemory) }
        if report.keyOrigin == .stale { found.insert(.staleKey) }
        if report.keyOrigin == .copy { found.insert(.copiedKey) }
        return allCases.filter { found.contains($0) }
    }
}
