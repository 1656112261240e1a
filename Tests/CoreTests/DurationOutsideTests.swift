import LatchkeyCore
import Testing

@Suite struct DurationOutsideTests {
    private static let longest = 4_294_967_295.0

    @Test(
        arguments: [
            (0.0, 0.0), (1.5, 1.5), (-2, -2), (longest, longest), (longest + 1, longest), (9.3e18, longest),
            (1e300, longest),
            (.infinity, longest), (-.infinity, -longest), (-1e300, -longest), (.leastNonzeroMagnitude, 0),
        ] as [(Double, Double)])
    func `a number of seconds is a duration of at most 136 years`(_ number: Double, _ seconds: Double) {
        #expect(Duration(clampingSeconds: number)?.inSeconds == seconds)
    }

    @Test func `NaN gives no duration`() {
        #expect(Duration(clampingSeconds: .nan) == nil && Duration(clampingSeconds: .signalingNaN) == nil)
    }

    @Test(arguments: [(Int64.max, 4_294_967_295), (.min, -4_294_967_295), (7, 7)] as [(Int64, Int64)])
    func `a whole number of seconds is a duration of at most 136 years`(_ number: Int64, _ seconds: Int64) {
        #expect(Duration(clampingSeconds: number) == .seconds(seconds))
        #expect(Duration.seconds(number).clamped == .seconds(seconds))
    }

    @Test func `an unsigned number is taken, too`() {
        #expect(Duration(clampingSeconds: UInt64.max) == .longest)
    }

    @Test(
        arguments: [
            (0.0, 0), (-0.9, 0), (1.9, 1), (-1.9, -1), (9_223_372_036_854_774_784, 9_223_372_036_854_774_784),
            (9_223_372_036_854_775_808, .max), (1e300, .max), (.infinity, .max), (-.infinity, .min),
            (-9_223_372_036_854_775_808, .min), (.nan, 0),
        ] as [(Double, Int)])
    func `a number becomes the nearest whole number towards zero`(_ number: Double, _ whole: Int) {
        #expect(Int(saturating: number) == whole)
    }

    @Test(arguments: [(-1.0, 0), (255.9, 255), (256, 255), (.nan, 0)] as [(Double, UInt8)])
    func `the range is the type's`(_ number: Double, _ whole: UInt8) {
        #expect(UInt8(saturating: number) == whole)
    }

    private static let waits: [(Duration, Int32)] = [
        (.zero, 0), (.seconds(-1), 0), (.microseconds(1), 1), (.milliseconds(1_500), 1_500), (.seconds(1 << 62), .max),
    ]

    @Test(arguments: waits)
    func `whole milliseconds are rounded up, and fit`(_ duration: Duration, _ milliseconds: Int32) {
        #expect(duration.wholeMilliseconds == milliseconds)
    }
}
