package import LatchkeyCore

/// Where the picture of one key may go, by a vendor's token. The rest is left to the tenant's policy.
///
/// Source: `Documentation/LicenseServer.md` §5.1.
package struct VendorOutput: Sendable, Hashable {
    /// The required HDCP of a display; `nil` if the token does not say.
    package var hdcp: HDCPRequirement?
    package var allowsAirPlay = true
    package var allowsAdapter = true

    package init() {}

    /// Both, the stricter of each rule.
    package func joined(with other: VendorOutput) -> VendorOutput {
        var joined = VendorOutput()
        joined.hdcp = [hdcp, other.hdcp].compactMap(\.self).max { $0.strictness < $1.strictness }
        joined.allowsAirPlay = allowsAirPlay && other.allowsAirPlay
        joined.allowsAdapter = allowsAdapter && other.allowsAdapter
        return joined
    }

    /// The same as the decision about the key needs it, which looks only at the key's own class.
    package var policy: Policy.Output {
        var output = Policy.Output()
        output.hdcp = hdcp.map { hdcp in Dictionary(uniqueKeysWithValues: TrackClass.allCases.map { ($0, hdcp) }) }
        if !allowsAirPlay { output.airPlay = .refuse }
        if !allowsAdapter { output.adapter = .refuse }
        return output
    }
}
