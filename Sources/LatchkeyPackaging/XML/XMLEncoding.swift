import Foundation

/// The supported encodings of documents. Internally, and when written, a document is UTF-8.
///
/// Source: XML 1.0 §4.3.3 and appendix F.
enum XMLEncoding {
    private static let utf8Names: Set<String> = ["utf-8", "utf8", "us-ascii"]
    private static let utf16Names: Set<String> = ["utf-16", "utf-16le", "utf-16be", "utf16"]
    private static let latin1Names: Set<String> = ["iso-8859-1", "latin1", "iso_8859-1"]

    /// Whether a declaration may name it. A document in bytes that states UTF-16 is what .NET makes of a text: it is UTF-8.
    static func isRead(_ name: Substring) -> Bool {
        let name = name.lowercased()
        return utf8Names.contains(name) || utf16Names.contains(name) || latin1Names.contains(name)
    }

    static func isUTF8(_ name: Substring) -> Bool { utf8Names.contains(name.lowercased()) }

    /// A document's bytes in UTF-8, without a mark. The mark takes precedence, then the form of the first two bytes, then the declaration.
    static func utf8(_ bytes: [UInt8]) throws(PackagingRefusal) -> [UInt8] {
        if bytes.starts(with: [0xef, 0xbb, 0xbf]) { return Array(bytes.dropFirst(3)) }
        if bytes.starts(with: [0xff, 0xfe]) { return try utf16(bytes.dropFirst(2), isLittle: true) }
        if bytes.starts(with: [0xfe, 0xff]) { return try utf16(bytes.dropFirst(2), isLittle: false) }
        if bytes.starts(with: [UInt8(ascii: "<"), 0]) { return try utf16(bytes[...], isLittle: true) }
        if bytes.starts(with: [0, UInt8(ascii: "<")]) { return try utf16(bytes[...], isLittle: false) }
        return statesLatin1(bytes) ? bytes.flatMap { Array(String(UnicodeScalar($0)).utf8) } : bytes
    }

    private static func utf16(_ bytes: ArraySlice<UInt8>, isLittle: Bool) throws(PackagingRefusal) -> [UInt8] {
        let units = stride(from: bytes.startIndex, to: bytes.endIndex - 1, by: 2).map { index in
            let (one, other) = (UInt16(bytes[index]), UInt16(bytes[index + 1]))
            return isLittle ? other << 8 | one : one << 8 | other
        }
        guard bytes.count.isMultiple(of: 2), let text = String(validating: units, as: UTF16.self) else {
            throw PackagingRefusal(.encoding, "The document's first bytes are UTF-16, but the document is not.")
        }
        return Array(text.utf8)
    }

    /// Whether the declaration, which is ASCII so far, names ISO-8859-1.
    private static func statesLatin1(_ bytes: [UInt8]) -> Bool {
        guard bytes.starts(with: "<?xml".utf8), let end = bytes.prefix(200).firstIndex(of: UInt8(ascii: ">")) else {
            return false
        }
        let words = String(decoding: bytes[..<end], as: UTF8.self).lowercased()
            .split(whereSeparator: { " \t\r\n=\"'?".contains($0) })
        guard let place = words.firstIndex(of: "encoding"), place + 1 < words.endIndex else { return false }
        return latin1Names.contains(String(words[place + 1]))
    }
}
