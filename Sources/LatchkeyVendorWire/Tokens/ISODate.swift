package import Foundation

/// A date in ISO 8601 with a time and a zone, with or without a fraction of a second: JavaScript's `toISOString()`, which vendors' samples
/// use, writes one.
package enum ISODate {
    private static let fraction = Date.ISO8601FormatStyle(includingFractionalSeconds: true)

    /// - Parameter text: the date. The result is `nil` for another form.
    package static func date(_ text: String) -> Date? {
        (try? Date(text, strategy: .iso8601)) ?? (try? Date(text, strategy: fraction))
    }
}
