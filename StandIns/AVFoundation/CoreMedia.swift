import LatchkeyCore

/// A CoreMedia time, with the members that downloads need.
public struct CMTime: Sendable, Hashable {
    /// The time in units of the time scale.
    public var value: Int64
    /// Units per second.
    public var timescale: Int32

    public init(value: Int64, timescale: Int32) {
        self.value = value
        self.timescale = timescale
    }

    public init(seconds: Double, preferredTimescale: Int32) {
        self.init(value: Int64(saturating: seconds * Double(preferredTimescale)), timescale: preferredTimescale)
    }

    /// Time zero.
    public static let zero = CMTime(value: 0, timescale: 1)

    /// A duration without an end, such as that of a live stream.
    public static let indefinite = CMTime(value: 0, timescale: 0)

    /// Not a number if the time is indefinite.
    public var seconds: Double { Double(value) / Double(timescale) }
}

/// A CoreMedia time range.
public struct CMTimeRange: Sendable, Hashable {
    public var start: CMTime
    public var duration: CMTime

    public init(start: CMTime, duration: CMTime) {
        self.start = start
        self.duration = duration
    }
}
