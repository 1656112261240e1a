/// Converts external numbers to durations and integers that cannot overflow in arithmetic with clocks.
///
/// `Duration.seconds(_:)` of a `Double` crashes the process above 2^63, and clocks overflow long before that.
extension Duration {
    /// The longest duration that an external number can become: 2³²−1 seconds, 136 years, the most that a CKC can state.
    package static let longest = Duration.seconds(Int64(UInt32.max))

    /// An external number of seconds, clamped to ±`longest`; `nil` for NaN.
    package init?(clampingSeconds seconds: Double) {
        guard !seconds.isNaN else { return nil }
        let longest = Self.longest.inSeconds
        self = .seconds(max(-longest, min(seconds, longest)))
    }

    /// An external number of seconds, clamped to ±`longest`.
    package init(clampingSeconds seconds: some BinaryInteger) {
        let longest = Self.longest.components.seconds
        self = .seconds(max(-longest, min(Int64(clamping: seconds), longest)))
    }

    /// The duration, clamped to ±`longest`.
    package var clamped: Duration { max(.zero - .longest, min(self, .longest)) }

    /// The duration in whole milliseconds, rounded up and at least 0, clamped to the range of a C `int`.
    package var wholeMilliseconds: Int32 {
        Int32(clamping: Int(saturating: clamped.inMilliseconds.rounded(.up))).nonNegative
    }
}

extension Int32 {
    fileprivate var nonNegative: Int32 { Swift.max(0, self) }
}

extension FixedWidthInteger {
    /// An external number without its fraction, clamped to the type's range; 0 for NaN.
    @inlinable package init(saturating number: Double) {
        if let exact = Self(exactly: number.rounded(.towardZero)) {
            self = exact
        } else {
            self = number.isNaN ? 0 : number < 0 ? .min : .max
        }
    }
}
