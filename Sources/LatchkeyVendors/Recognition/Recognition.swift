package import Foundation
package import LatchkeyCore

/// The form of bytes, whatever they were taken for, the same for client and tools. Never holds the bytes.
///
/// It takes time in proportion to the bytes, looks into encodings to a bounded depth, and never fails.
///
/// Source: `Documentation/FairPlay.md` §17.
package indirect enum Recognition: Sendable, Hashable {
    case empty
    /// A whole SPC, and the SHA-1 of the certificate that it was made for.
    case spc(certificate: String)
    /// A whole CKC of version 1.
    case ckc
    /// Begins like one, but differs from its stated length. The length is `nil` if none can be meant.
    case damaged(Container, count: Int, stated: Int?)
    /// Begins with a later version of an SPC or CKC, whose form is not public.
    case laterVersion(UInt8)
    /// A certificate in DER form. Anything may follow it, as in a bundle.
    case certificate
    /// A binary file with certificates inside.
    case bundle
    case certificateRequest
    case pkcs7
    case pkcs12
    case privateKey
    case publicKey
    /// PEM text with its label.
    case pem(label: String)
    case webPage
    case playlist
    case token(TokenFormat)
    /// A message of another DRM system.
    case otherSystem(name: String, message: String)
    /// A segment, or another part of a stream.
    case media(String)
    /// Data compressed by gzip. It is not decompressed.
    case gzip
    /// A program's text for a missing value, such as `[object Object]`.
    case placeholder(String)
    /// Git's text in place of a file that Git LFS stores.
    case pointer
    /// An encoding and its contents.
    case base64(Recognition)
    case hexadecimal(Recognition)
    case percentEncoded(Recognition)
    case dataURI(Recognition)
    case utf16(Recognition)
    case quoted(Recognition)
    /// A list of numbers, one for each byte, and their contents.
    case numbers(Recognition)
    /// Each byte became the character with its number.
    case characters(Recognition)
    /// Preceded by other bytes.
    case preceded(by: Precedent, Recognition)
    /// Bytes that were read as UTF-8, with U+FFFD in place of lost bytes.
    case readAsText(Container?)
    /// A form body, JSON or XML document, and the contents of the field with the most telling value.
    case form(field: String, Recognition)
    case json(field: String?, Recognition)
    case xml(element: String?, Recognition)
    /// Text of no known form.
    case text
    /// Binary data of no known form.
    case unknown

    /// Forms that state their own length.
    package enum Container: Sendable, Hashable { case spc, ckc, certificate, spcOrCKC }

    /// Bytes that may precede the contents.
    package enum Precedent: Sendable, Hashable { case byteOrderMark, text }

    /// - Parameters:
    ///   - bytes: of any length; only the start is checked if there are more than 256 KiB of text.
    ///   - depth: the maximum number of encodings to remove.
    package init(_ bytes: Data, depth: Int = Self.wholeDepth) {
        if depth == Self.wholeDepth { Self.count?.withLock { $0 += 1 } }
        let array = [UInt8](bytes)
        if let binary = Self.ofBinary(array) {
            self = binary
            return
        }
        guard array.count <= Self.longestText else {
            self = Self.ofStart(array)
            return
        }
        let text = String(utf8: array[...])
        if let text, Self.isText(text) {
            self = Self.ofText(text, array, depth)
        } else if let wide = Self.wideText(array) {
            self = .utf16(Self.ofText(wide, [], depth - 1))
        } else if let text {
            self = Self.ofCharacters(text, array, depth)
        } else {
            self = Self.ofMixed(array, depth)
        }
    }

    /// The depth for bytes of which no encoding was removed.
    package static let wholeDepth = 3

    /// The number of bodies that a task has recognized, if a test counts them.
    @TaskLocal package static var count: Locked<Int>?

    /// - Parameter text: text that may represent bytes.
    package init(_ text: String, depth: Int = Self.wholeDepth) { self.init(Data(text.utf8), depth: depth) }

    /// Four bytes of text for each of the longest SPC, as a list of numbers has them.
    private static let longestText = 1 << 18

    /// The start of data that is too long to be exchanged for a key.
    private static func ofStart(_ bytes: [UInt8]) -> Recognition {
        let start = String(decoding: bytes.prefix(4_096), as: UTF8.self)
        let isText = isText(start) && !start.unicodeScalars.dropLast(3).contains("\u{fffd}")
        return isText ? ofText(start, [], 0) : .unknown
    }

    /// Text has no control characters but those of lines.
    private static func isText(_ text: some StringProtocol) -> Bool {
        text.utf8.allSatisfy { $0 >= 0x20 || "\t\n\r\u{c}".utf8.contains($0) }
    }

    /// UTF-8 with control characters: perhaps each byte became the character with its number.
    private static func ofCharacters(_ text: String, _ bytes: [UInt8], _ depth: Int) -> Recognition {
        let single = text.unicodeScalars.map { UInt8(exactly: $0.value) }
        let whole = single.compactMap(\.self)
        // Below 0x80 a byte is its character.
        guard depth > 0, whole.count == single.count, whole.count < bytes.count else { return ofMixed(bytes, depth) }
        let inside = Recognition(Data(whole), depth: depth - 1)
        return inside.isTelling ? .characters(inside) : ofMixed(bytes, depth)
    }

    /// UTF-16, by its mark or by the zeros of its first letters.
    private static func wideText(_ bytes: [UInt8]) -> String? {
        guard bytes.count >= 8, bytes.count.isMultiple(of: 2) else { return nil }
        let start = bytes.prefix(32).enumerated()
        let zeros = (0...1).map { parity in start.allSatisfy { $0.offset % 2 != parity || $0.element == 0 } }
        let isLittle = bytes.starts(with: [0xff, 0xfe]) || zeros == [false, true]
        guard isLittle || bytes.starts(with: [0xfe, 0xff]) || zeros == [true, false] else { return nil }
        let text = String(data: Data(bytes), encoding: isLittle ? .utf16LittleEndian : .utf16BigEndian)
        return text.map { String($0.drop { $0 == "\u{feff}" }) }
    }

    /// Bytes that are neither text nor begin like a known form.
    private static func ofMixed(_ bytes: [UInt8], _ depth: Int) -> Recognition {
        if bytes.starts(with: byteOrderMark), depth > 0 {
            return .preceded(by: .byteOrderMark, Recognition(Data(bytes.dropFirst(3)), depth: depth - 1))
        }
        if let place = certificatePlace(bytes) {
            return String(utf8: bytes[..<place]).map { isText($0) && !$0.allSatisfy(\.isWhitespace) } == true
                ? .preceded(by: .text, .certificate) : .bundle
        }
        // A page in another character set, or one truncated inside a character.
        let start = bytes.prefix(512)
        let isPrintable = start.allSatisfy { $0 >= 0x20 || "\t\r\n".utf8.contains($0) }
        guard isPrintable, "<{[".utf8.contains(start.first { !" \t\r\n".utf8.contains($0) } ?? 0) else {
            return .unknown
        }
        return ofText(String(decoding: start, as: UTF8.self), [], 0)
    }

    static let byteOrderMark: [UInt8] = [0xef, 0xbb, 0xbf]
}

extension Recognition {
    /// The contents after every encoding is removed.
    package var core: Recognition { layers.last ?? self }

    /// The form, and the contents of each encoding, from the outside in.
    package var layers: [Recognition] {
        var layers = [self]
        while let inside = layers.last?.inside { layers.append(inside) }
        return layers
    }

    private var inside: Recognition? {
        switch self {
        case .base64(let inside), .hexadecimal(let inside), .percentEncoded(let inside), .dataURI(let inside),
            .utf16(let inside), .quoted(let inside), .numbers(let inside), .characters(let inside),
            .preceded(_, let inside), .form(_, let inside), .json(_?, let inside), .xml(_?, let inside):
            inside
        default: nil
        }
    }

    /// Whether it is one of the values exchanged for a key, or mistaken for one.
    package var isTelling: Bool {
        switch core {
        case .spc, .ckc, .damaged, .readAsText, .certificate, .certificateRequest, .pkcs7, .pkcs12, .privateKey, .pem,
            .otherSystem:
            true
        default: false
        }
    }

    /// Whether it is binary, not text.
    package var isBinary: Bool {
        switch self {
        case .spc, .ckc, .damaged, .laterVersion, .certificate, .bundle, .certificateRequest, .pkcs7, .pkcs12,
            .publicKey, .media, .gzip, .readAsText, .unknown:
            true
        // A private key may be PEM text; a message of another system may be XML.
        default: false
        }
    }
}
