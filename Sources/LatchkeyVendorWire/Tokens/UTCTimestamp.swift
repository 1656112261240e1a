package import Foundation

/// A date in the form `yyyy-MM-ddThh:mm:ssZ`, read strictly and without a formatter, which is slow.
package enum UTCTimestamp {
    /// - Parameter text: 20 characters. The result is `nil` for another form and for a day or time that does not exist.
    package static func date(_ text: String) -> Date? {
        let bytes = Array(text.utf8)
        guard bytes.count == 20, zip(bytes, form).allSatisfy({ $1 == 0 ? isDigit($0) : $0 == $1 }) else { return nil }
        let number = { (range: Range<Int>) in bytes[range].reduce(0) { $0 * 10 + Int32($1 - UInt8(ascii: "0")) } }
        var time = tm()
        time.tm_year = number(0..<4) - 1_900
        time.tm_mon = number(5..<7) - 1
        time.tm_mday = number(8..<10)
        time.tm_hour = number(11..<13)
        time.tm_min = number(14..<16)
        time.tm_sec = number(17..<19)
        let stated = time
        let seconds = timegm(&time)
        // The system carries values that are too large over to the next field, so that the fields change.
        guard stated.tm_mon == time.tm_mon, stated.tm_mday == time.tm_mday, stated.tm_hour == time.tm_hour,
            stated.tm_min == time.tm_min, stated.tm_sec == time.tm_sec
        else { return nil }
        return Date(timeIntervalSince1970: TimeInterval(seconds))
    }

    /// The form, with zero bytes for digits.
    private static let form = Array("\0\0\0\0-\0\0-\0\0T\0\0:\0\0:\0\0Z".utf8)

    private static func isDigit(_ byte: UInt8) -> Bool { byte >= UInt8(ascii: "0") && byte <= UInt8(ascii: "9") }
}
