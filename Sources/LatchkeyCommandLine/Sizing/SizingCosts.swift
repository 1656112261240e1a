import LatchkeyCore
import LatchkeyDecision
import LatchkeyForms

/// The cost of a license and of a heartbeat, as `Scripts/measure-sizing` measures it. The defaults are the costs on cores at most half
/// full, whose requests are dearer, so a plan based on them has headroom.
///
/// Source: `Documentation/Server/Sizing.md`.
struct SizingCosts: Sendable, Equatable, Encodable {
    /// Microseconds of a node's processor.
    var license = 1_198.0
    var heartbeat = 926.0
    /// A request that is refused with 503.
    var refusal = 60.0
    /// Microseconds of a Redis primary for one license, and for one heartbeat.
    var redisLicense = 173.0
    var redisHeartbeat = 235.0
    /// Bytes of Redis's memory for an account with one slot.
    var accountBytes = 610.0
    /// Bytes of a license's row in the record.
    var recordBytes = 700.0
    /// Bytes of a license's line in the log, and of a heartbeat's.
    var licenseLogBytes = 395.0
    var heartbeatLogBytes = 284.0

    /// The lowest measured costs: a core for the server alone, 800 licenses a second.
    static let best: Self = {
        var costs = Self()
        (costs.license, costs.heartbeat, costs.redisLicense, costs.redisHeartbeat) = (465, 300, 36, 36)
        return costs
    }()

    /// Their form in the file of `--costs`: all are optional, and an absent one has its default.
    static let form = ObjectForm(
        empty: Self(),
        members: [
            .cost("license", \.license), .cost("heartbeat", \.heartbeat), .cost("refusal", \.refusal),
            .cost("redisLicense", \.redisLicense), .cost("redisHeartbeat", \.redisHeartbeat),
            .cost("accountBytes", \.accountBytes), .cost("recordBytes", \.recordBytes),
            .cost("licenseLogBytes", \.licenseLogBytes), .cost("heartbeatLogBytes", \.heartbeatLogBytes),
        ])
}

extension Member<SizingCosts> {
    /// More than zero: a station without work would have infinite room.
    fileprivate static func cost(_ name: String, _ place: Member<Double>) -> Self {
        .defaulting(name, place, .fraction(0.1...1_000_000), to: SizingCosts()[keyPath: place])
    }
}
