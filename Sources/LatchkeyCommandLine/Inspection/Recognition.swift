import Foundation
import LatchkeyCore
import LatchkeyFairPlay
import LatchkeyVendors

/// What bytes are that somebody took for an SPC, a CKC, a certificate or a token. Never holds them.
indirect enum Recognition: Sendable, Hashable {
    case empty
    /// An SPC, and the SHA-1 of the certificate that it was made for.
    case spc(certificate: String)
    case ckc
    /// Begins as an SPC or a CKC does, and has not the length that it states.
    case cutShort
    /// A certificate in DER form, and its SHA-1.
    case certificate(sha1: String)
    /// A binary file with certificates inside.
    case bundle
    case pkcs12
    case privateKey
    /// PEM text with a label of its own.
    case pem(label: String)
    case webPage
    case playlist
    case token(TokenFormat)
    /// An encoding, and what it holds.
    case base64(Recognition)
    case hexadecimal(Recognition)
    case percentEncoded(Recognition)
    /// A list of numbers, one for each byte, and what these are.
    case numbers(Recognition)
    /// Bytes that were read as text: U+FFFD stands for those that are lost.
    case readAsText
    /// A form body or JSON document; what the field with the most telling value holds.
    case form(field: String, Recognition)
    case json(field: String?, Recognition)
    /// Text of no known form.
    case text
    /// Binary data of no known form.
    case unknown

    /// - Parameter depth: how many encodings may be taken off.
    init(_ bytes: Data, depth: Int = 3) {
        let array = [UInt8](bytes)
        if let binary = Self.ofBinary(array) {
            self = binary
        } else if let text = String(data: bytes, encoding: .utf8), !text.utf8.contains(0) {
            self = Self.ofText(text, depth)
        } else {
            self = Self.hasCertificateInside(array) ? .bundle : .unknown
        }
    }

    /// What is known of it without text; `nil` for what may be text.
    private static func ofBinary(_ bytes: [UInt8]) -> Recognition? {
        if bytes.isEmpty { return .empty }
        if let spc = try? SPCContainer(bytes) {
            return .spc(certificate: bytes[spc.certificateHashRange].hexString)
        }
        if (try? CKCContainer(bytes)) != nil { return .ckc }
        do throws(CertificateError) {
            return .certificate(sha1: try FairPlayCertificate(bytes).fingerprint.hexString)
        } catch {
            if error.kind == .pkcs12 { return .pkcs12 }
        }
        if wasReadAsText(bytes) { return .readAsText }
        let startsLikeOne = bytes.starts(with: [0, 0, 0, 1]) || bytes.starts(with: [0, 0, 0, 2])
        return startsLikeOne ? .cutShort : nil
    }

    /// Whether bytes without form were read as UTF-8 and written again: one in four or more became U+FFFD.
    private static func wasReadAsText(_ bytes: [UInt8]) -> Bool {
        guard bytes.count >= 32, bytes.contains(where: { $0 < 0x20 && !"\t\n\r".utf8.contains($0) }) else {
            return false
        }
        let start = bytes.prefix(1 << 16)
        let marks = start.indices.filter { start[$0] == 0xef && start[$0...].starts(with: [0xef, 0xbf, 0xbd]) }.count
        return marks >= 8 && marks * 3 >= start.count / 4
    }

    /// Whether a certificate stands somewhere behind the start. Looks at so many places only that a large file costs little.
    private static func hasCertificateInside(_ bytes: [UInt8]) -> Bool {
        let places = bytes.indices.prefix(1 << 16).lazy.filter { bytes[$0...].starts(with: [0x30, 0x82]) }
        return places.prefix(32).contains { (try? FairPlayCertificate(bytes[$0...])) != nil }
    }
}

extension Recognition {
    /// What it is, with its article: `base64 text of an SPC`.
    var noun: String {
        switch self {
        case .empty: "an empty file"
        case .spc: "an SPC"
        case .ckc: "a CKC"
        case .cutShort: "an SPC or CKC that is cut short or has bytes too many"
        case .certificate: "a certificate"
        case .bundle: "a certificate bundle"
        case .pkcs12: "a PKCS#12 file, a certificate with its private key"
        case .privateKey: "a private key"
        case .pem(let label): label == "CERTIFICATE" ? "a certificate as PEM text" : "PEM text (\(label))"
        case .webPage: "a web page or XML"
        case .playlist: "a playlist"
        case .token(let format): format == .opaque ? "a token" : "a token (\(format.rawValue))"
        case .base64(let inside): "base64 text of \(inside.noun)"
        case .hexadecimal(let inside): "hexadecimal text of \(inside.noun)"
        case .percentEncoded(let inside): "percent-encoded text of \(inside.noun)"
        case .numbers(let inside): "a list of numbers that are \(inside.noun)"
        case .readAsText: "bytes that were read as text, and lost by that"
        case .form(let field, let inside): "a form body whose field “\(field)” is \(inside.noun)"
        case .json(let field?, let inside): "JSON whose member “\(field)” is \(inside.noun)"
        case .json(nil, _): "JSON"
        case .text: "text of no known form"
        case .unknown: "data of no known form"
        }
    }

    /// A short name for codes: `spcIsBase64`.
    var name: String {
        switch self {
        case .empty: "Empty"
        case .spc: "SPC"
        case .ckc: "CKC"
        case .cutShort: "CutShort"
        case .certificate: "Certificate"
        case .bundle: "Bundle"
        case .pkcs12: "PKCS12"
        case .privateKey: "PrivateKey"
        case .pem: "PEM"
        case .webPage: "HTML"
        case .playlist: "Playlist"
        case .token: "Token"
        case .base64: "Base64"
        case .hexadecimal: "Hexadecimal"
        case .percentEncoded: "PercentEncoded"
        case .numbers: "Numbers"
        case .readAsText: "ReadAsText"
        case .form: "Form"
        case .json: "JSON"
        case .text: "Text"
        case .unknown: "Unknown"
        }
    }

    /// What it is when every encoding is taken off.
    var core: Recognition { layers.last ?? self }

    /// What it is, and what each encoding holds, from the outside in.
    var layers: [Recognition] {
        switch self {
        case .base64(let inside), .hexadecimal(let inside), .percentEncoded(let inside), .numbers(let inside),
            .form(_, let inside), .json(_, let inside):
            [self] + inside.layers
        default: [self]
        }
    }

    /// How to take the outermost encoding off; `nil` if there is none.
    var unwrapping: String? {
        switch self {
        case .base64: "Undo the base64: base64 -d FILE > BYTES."
        case .hexadecimal: "Undo the hexadecimal digits: xxd -r -p FILE > BYTES."
        case .percentEncoded: "Undo the URL encoding."
        case .numbers: "Write the numbers as bytes."
        case .form(let field, _): "Take the value of “\(field)”, undo its URL encoding and then its base64."
        case .json(let field?, _): "Take the member “\(field)” and undo its base64."
        default: nil
        }
    }
}
