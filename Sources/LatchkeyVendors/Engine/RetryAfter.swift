package import Foundation
package import LatchkeyCore

/// How long a reply asks to wait.
///
/// Source: RFC 9110 §10.2.3.
struct RetryAfter {
    private static let year: Double = 31_536_000

    /// The wait in seconds, 0 to a year.
    let seconds: Double

    /// - Parameter reply: a reply whose `Retry-After` is a number of seconds or a date. A date is compared with the reply's own `Date`,
    ///   because the service's clock and this machine's may differ. The result is `nil` without either.
    init?(_ reply: HTTPReply) {
        guard let value = reply.header("retry-after")?.trimmingCharacters(in: .whitespaces) else { return nil }
        if !value.isEmpty, value.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }) {
            // Any number of digits is valid. No client waits longer than a year.
            seconds = min(Double(value) ?? Self.year, Self.year)
        } else if let date = Date(httpField: value), let now = reply.date {
            seconds = min(max(0, date.timeIntervalSince(now)), Self.year)
        } else {
            return nil
        }
    }
}

extension HTTPReply {
    /// When the reply was made, by the server's clock, in whole seconds; `nil` if it does not say.
    ///
    /// Source: RFC 9110 §6.6.1.
    package var date: Date? { header("date").flatMap(Date.init(httpField:)) }
}

extension Date {
    fileprivate init?(httpField text: String) {
        let format = DateFormatter()
        format.locale = Locale(identifier: "en_US_POSIX")
        format.timeZone = TimeZone(identifier: "GMT")
        format.dateFormat = "EEE, dd MMM yyyy HH:mm:ss 'GMT'"
        guard let date = format.date(from: text) else { return nil }
        self = date
    }
}
