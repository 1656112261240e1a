/// The part of a file that a `Range` header field asks for.
///
/// Source: RFC 9110 §14.
enum RequestedRange: Hashable {
    /// The whole file: there is no range, or several, or one that is not understood. The standard allows that.
    case whole
    /// A part that exists.
    case part(offset: UInt64, count: UInt64)
    /// A range that begins behind the end of the file.
    case unsatisfiable

    /// - Parameters:
    ///   - header: the value of `Range`, such as `bytes=0-99`, `bytes=100-` or `bytes=-100`.
    ///   - size: the file's size in bytes.
    init(_ header: String?, size: UInt64) {
        guard let header, header.lowercased().hasPrefix("bytes="), !header.contains(",") else {
            self = .whole
            return
        }
        let range = header.dropFirst(6).split(separator: "-", maxSplits: 1, omittingEmptySubsequences: false)
        guard range.count == 2 else {
            self = .whole
            return
        }
        let (first, last) = (range[0].trimmingBlanks, range[1].trimmingBlanks)
        if first.isEmpty {
            self = Self.suffix(last, size: size)
        } else {
            self = Self.span(first, last, size: size)
        }
    }

    private static func suffix(_ text: String, size: UInt64) -> RequestedRange {
        guard let count = UInt64(text) else { return .whole }
        guard count > 0, size > 0 else { return .unsatisfiable }
        return .part(offset: size - min(count, size), count: min(count, size))
    }

    private static func span(_ first: String, _ last: String, size: UInt64) -> RequestedRange {
        guard let first = UInt64(first) else { return .whole }
        if last.isEmpty {
            return first < size ? .part(offset: first, count: size - first) : .unsatisfiable
        }
        guard let last = UInt64(last), last >= first else { return .whole }
        return first < size ? .part(offset: first, count: min(last, size - 1) - first + 1) : .unsatisfiable
    }
}
