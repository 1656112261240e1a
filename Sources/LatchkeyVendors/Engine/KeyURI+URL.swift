import Foundation
public import LatchkeyCore

// What players read from a key URI with `URL` and `NSURL`. Works also if the text is not a valid URL.
extension KeyURI {
    /// The last component of the path, percent-decoded, as `NSURL.lastPathComponent`; `nil` if there is no path, if the path has only
    /// slashes, or if its escapes are not UTF-8.
    ///
    /// The path is decoded and then split, so that `a%2Fb` gives `b`. After `skd:` without slashes there is only a path.
    ///
    /// Source: the JW Player document's code, whose calls were run to compare the results (`Documentation/Migration/JWPlayerVuDRM.md`).
    public var lastPathComponent: String? {
        let bytes = path.percentDecoded
        guard String(bytes: bytes, encoding: .utf8) != nil else { return nil }
        return bytes.split(separator: UInt8(ascii: "/")).last.map { String(decoding: $0, as: UTF8.self) }
    }

    /// The text as a web address: the rest after `skd:` if that is an address, else the text with `https` as its scheme; `nil` for a
    /// `data:` URI, which names no host.
    ///
    /// Source: `Documentation/Vendors/ExpressPlay.md`, `skd:{entitlement_server}?cid={content_id}`.
    var webAddress: String? {
        let isAddress = ["https", "http"].contains(KeyURI(remainder).scheme?.lowercased())
        if scheme?.lowercased() == "skd", isAddress { return remainder }
        return scheme?.lowercased() == "data" ? nil : replacingScheme(with: "https")
    }

    /// The host without user, port and brackets, as `URL.host`.
    var hostName: String {
        let address = host.split(separator: "@", omittingEmptySubsequences: false).last ?? ""
        if address.hasPrefix("["), let end = address.firstIndex(of: "]") {
            return String(address[address.index(after: address.startIndex)..<end])
        }
        guard let colon = address.lastIndex(of: ":"), address[colon...].dropFirst().allSatisfy(\.isNumber) else {
            return String(address)
        }
        return String(address[..<colon])
    }

    /// The text between the authority and the first of `?` and `#`.
    private var path: Substring.UTF8View {
        let text = raw.utf8.dropFirst(scheme.map { $0.utf8.count + 1 } ?? 0)
            .prefix { $0 != UInt8(ascii: "?") && $0 != UInt8(ascii: "#") }
        guard text.starts(with: "//".utf8) else { return text }
        return text.dropFirst(2).drop { $0 != UInt8(ascii: "/") }
    }
}

extension Substring.UTF8View {
    /// The bytes with percent escapes decoded. Other bytes stay.
    fileprivate var percentDecoded: [UInt8] {
        let bytes = Array(self)
        var decoded: [UInt8] = []
        var index = 0
        while index < bytes.count {
            let digits = bytes[(index + 1)...].prefix(2).compactMap { Character(UnicodeScalar($0)).hexDigitValue }
            if bytes[index] == UInt8(ascii: "%"), digits.count == 2 {
                decoded.append(UInt8(digits[0] * 16 + digits[1]))
                index += 3
            } else {
                decoded.append(bytes[index])
                index += 1
            }
        }
        return decoded
    }
}
