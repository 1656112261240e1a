package import LatchkeyCore

/// The parts of a key's policy that SPEKE 2.1 writes into playlists and manifests, so that they and the license agree.
///
/// Source: `Documentation/LicenseServer.md` §2.6.
package struct PackagingPolicy: Sendable, Hashable {
    /// The content protection that a display needs; `nil` leaves it out.
    package var hdcp: HDCPRequirement?
    /// XML on output protection for DASH; `nil` leaves it out.
    package var outputProtection: String?
    /// The values of `HLSAllowedCPC` by system.
    package var allowedCPC: [DRMSystem: String]
    /// The values of `robustness` by system.
    package var robustness: [DRMSystem: String]

    /// - Parameters:
    ///   - hdcp: the content protection that a display needs.
    ///   - outputProtection: XML on output protection for DASH.
    ///   - allowedCPC: the values of `HLSAllowedCPC` by system.
    ///   - robustness: the values of `robustness` by system.
    package init(
        hdcp: HDCPRequirement? = nil, outputProtection: String? = nil, allowedCPC: [DRMSystem: String] = [:],
        robustness: [DRMSystem: String] = [:]
    ) {
        self.hdcp = hdcp
        self.outputProtection = outputProtection
        self.allowedCPC = allowedCPC
        self.robustness = robustness
    }

    /// The value of `HDCP-LEVEL` in a playlist.
    var hdcpLevel: String {
        switch hdcp {
        case nil, .notRequired: "NONE"
        case .type0: "TYPE-0"
        case .type1: "TYPE-1"
        }
    }
}
