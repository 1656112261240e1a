package import Foundation
import LatchkeyCore

extension XMLTree {
    /// Reads a document.
    /// - Parameter data: UTF-8, UTF-16 or ISO-8859-1, with or without a mark and an XML declaration; at most 256 KiB, 32 levels and
    ///   20,000 elements.
    /// - Throws: why it was not read.
    package init(_ data: Data) throws(PackagingRefusal) { try self.init(data, limits: XMLLimits()) }

    init(_ data: Data, limits: XMLLimits) throws(PackagingRefusal) {
        guard data.count <= limits.bytes else {
            throw PackagingRefusal(.tooManyBytes, "The document has more than \(limits.bytes) bytes.")
        }
        var bytes = try XMLEncoding.utf8([UInt8](data))
        guard String(validating: bytes, as: UTF8.self) != nil, !bytes.contains(0) else {
            throw PackagingRefusal(
                .encoding, "The document is neither in its declared encoding nor in UTF-8.")
        }
        declaration = try Self.takeDeclaration(from: &bytes)
        let reader = try XMLTreeReader(limits)
        root = try reader.read(bytes)
        (prolog, epilog) = (reader.prolog, reader.epilog)
    }

    /// Removes the XML declaration, and makes it state UTF-8, in which the document is written.
    private static func takeDeclaration(from bytes: inout [UInt8]) throws(PackagingRefusal) -> String? {
        guard bytes.starts(with: "<?xml".utf8), bytes.count > 5, " \t\r\n".utf8.contains(bytes[5]) else { return nil }
        guard let end = bytes.firstIndex(of: UInt8(ascii: ">")), end <= 200 else { throw .malformed(at: 0) }
        var text = String(decoding: bytes[...end], as: UTF8.self)
        guard let parts = text.wholeMatch(of: Self.declarationForm) else { throw .malformed(at: 0) }
        if let encoding = parts.output.2 {
            guard XMLEncoding.isRead(encoding) else {
                throw PackagingRefusal(.encoding, "The document declares the encoding \(encoding.prefix(40)).")
            }
            if !XMLEncoding.isUTF8(encoding) {
                text.replaceSubrange(encoding.startIndex..<encoding.endIndex, with: "UTF-8")
            }
        }
        bytes.removeFirst(end + 1)
        return text
    }

    // Sound because a pattern never changes.
    nonisolated(unsafe) private static let declarationForm =
        #/
        <\?xml\s+version\s*=\s*["']1\.[0-9]+["'](\s+encoding\s*=\s*["']([A-Za-z0-9._-]+)["'])?
        (\s+standalone\s*=\s*["'](yes|no)["'])?\s*\?>
        /#
}
