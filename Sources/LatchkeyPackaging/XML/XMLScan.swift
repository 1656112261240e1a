/// Checks a document before libxml2 sees it: for declarations, some of which libxml2 would read, and for more attributes than allowed, for
/// which libxml2 2.9 takes time by the square of their number.
///
/// Distinguishes tags, comments, CDATA sections and instructions as XML does. libxml2 finds any other error in a document.
enum XMLScan {
    /// - Throws: `documentType`, or `attributeTooLong`.
    static func check(_ bytes: [UInt8], _ limits: XMLLimits) throws(PackagingRefusal) {
        var rest = bytes[...]
        while let start = rest.firstIndex(of: UInt8(ascii: "<")) {
            rest = rest[start...]
            if rest.starts(with: "<!--".utf8) {
                rest = rest.dropFirst(4).behind("-->")
            } else if rest.starts(with: "<![CDATA[".utf8) {
                rest = rest.dropFirst(9).behind("]]>")
            } else if rest.starts(with: "<?".utf8) {
                rest = rest.dropFirst(2).behind("?>")
            } else if rest.starts(with: "<!".utf8) {
                throw .declaration(at: start)
            } else {
                rest = try tagEnd(rest, limits)
            }
        }
    }

    /// Skips a tag, in which only quoted values may hold `>`.
    private static func tagEnd(
        _ tag: ArraySlice<UInt8>, _ limits: XMLLimits
    ) throws(PackagingRefusal) -> ArraySlice<UInt8> {
        var (rest, values) = (tag, 0)
        while let index = rest.firstIndex(where: { [0x22, 0x27, 0x3e].contains($0) }) {
            let mark = rest[index]
            rest = rest[(index + 1)...]
            guard mark != UInt8(ascii: ">") else { return rest }
            values += 1
            guard values <= limits.attributes else {
                throw PackagingRefusal(.attributeTooLong, "An element has more than \(limits.attributes) attributes.")
            }
            guard let end = rest.firstIndex(of: mark) else { break }
            rest = rest[(end + 1)...]
        }
        return []
    }
}

extension ArraySlice<UInt8> {
    /// The bytes after a text; empty if it does not occur.
    fileprivate func behind(_ text: String) -> Self {
        var rest = self
        while let first = text.utf8.first, let index = rest.firstIndex(of: first) {
            if rest[index...].starts(with: text.utf8) { return rest[index...].dropFirst(text.utf8.count) }
            rest = rest[(index + 1)...]
        }
        return []
    }
}
