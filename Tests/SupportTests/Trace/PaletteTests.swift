import Foundation
import Testing

@testable import LatchkeySupport

/// The colors of pages, in light, in dark and on paper.
@Suite struct PaletteTests {
    /// The background of each text's color.
    private static let texts = ["text", "soft", "bad", "stage", "request"].flatMap { [($0, "back"), ($0, "track")] }
    private static let bars = ["key", "stage", "request", "wait", "work", "service", "bad"].map { ($0, "track") }
    static let schemes = ["light", "dark", "paper"]

    @Test(arguments: schemes) func `texts have level AA contrast, bars that of pictures`(_ scheme: String) throws {
        let palettes = "\(TraceStyle.rules)".split(separator: ":root {").dropFirst().map { block in
            Dictionary(
                block.prefix { $0 != "}" }.matches(of: /--(\w+): #([0-9a-f]{6})/).map { ("\($0.1)", "\($0.2)") },
                uniquingKeysWith: { $1 })
        }
        #expect(palettes.count == 3)
        let palette = try #require(zip(Self.schemes, palettes).first { $0.0 == scheme }?.1)
        for (pairs, least) in [(Self.texts, 4.5), (Self.bars, 3)] {
            for (front, back) in pairs {
                let ratio = try Self.contrast(#require(palette[front]), #require(palette[back]))
                #expect(ratio >= least, "\(front) on \(back): \(ratio)")
            }
        }
    }

    @Test func `contrast matches the guidelines' own examples`() {
        #expect(Self.contrast("000000", "ffffff") == 21)
        #expect(abs(Self.contrast("777777", "ffffff") - 4.48) < 0.005)
    }

    /// Source: Web Content Accessibility Guidelines 2.2, "contrast ratio" and "relative luminance".
    private static func contrast(_ one: String, _ other: String) -> Double {
        let (low, high) = (min(light(one), light(other)), max(light(one), light(other)))
        return (high + 0.05) / (low + 0.05)
    }

    private static func light(_ color: String) -> Double {
        let number = Int(color, radix: 16) ?? 0
        let parts = [16, 8, 0].map { Double(number >> $0 & 255) / 255 }
        let linear = parts.map { $0 <= 0.04045 ? $0 / 12.92 : pow(($0 + 0.055) / 1.055, 2.4) }
        return zip(linear, [0.2126, 0.7152, 0.0722]).reduce(0) { $0 + $1.0 * $1.1 }
    }
}
