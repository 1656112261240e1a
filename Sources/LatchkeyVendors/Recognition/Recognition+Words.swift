package import Foundation

// Names for all outputs.
extension Recognition {
    /// A noun with its article: `base64 text of an SPC`.
    package var noun: String {
        switch self {
        case .empty: "empty"
        case .spc: "an SPC"
        case .ckc: "a CKC"
        case .damaged(let container, let count, let stated): Self.damage(container, count, stated)
        case .laterVersion(let version): "data that begins like an SPC or CKC of version \(version)"
        case .certificate: "a certificate"
        case .bundle: "a certificate bundle"
        case .certificateRequest: "a certificate signing request"
        case .pkcs7: "a PKCS#7 file"
        case .pkcs12: "a PKCS#12 file, a certificate with its private key"
        case .privateKey: "a private key"
        case .publicKey: "a public key"
        case .pem(label: Self.certificateWithKey): "a certificate as PEM text, and its private key"
        case .pem(let label): label == "CERTIFICATE" ? "a certificate as PEM text" : "PEM text (\(label))"
        case .webPage: "an HTML page"
        case .playlist: "a playlist"
        case .token(let format): format == .opaque ? "a token" : "a token (\(format.rawValue))"
        case .otherSystem(let name, let message): "a \(name) \(message)"
        case .media(let what): what
        case .gzip: "data compressed by gzip"
        case .placeholder(let word): "“\(word)”, which a program writes in place of a value"
        case .pointer: "a pointer of Git LFS in place of the file"
        case .base64(let inside): "base64 text of \(inside.noun)"
        case .hexadecimal(let inside): "hexadecimal text of \(inside.noun)"
        case .percentEncoded(let inside): "percent-encoded text of \(inside.noun)"
        case .dataURI(let inside): "a data: URI of \(inside.noun)"
        case .utf16(let inside): "UTF-16 text: \(inside.noun)"
        case .quoted(let inside): "\(inside.noun) in quotation marks"
        case .numbers(let inside): "a list of numbers that are \(inside.noun)"
        case .characters(let inside): "text with a character for each byte of \(inside.noun)"
        case .preceded(.byteOrderMark, let inside): "\(inside.noun) behind a byte order mark"
        case .preceded(.text, let inside): "\(inside.noun) behind other text"
        case .readAsText(let container):
            "\(container.map(Self.noun) ?? "bytes"), read as text and lost by that"
        case .form(let field, let inside): "a form body whose field “\(field)” is \(inside.noun)"
        case .json(let field?, let inside): "JSON whose member “\(field)” is \(inside.noun)"
        case .json(nil, _): "JSON"
        case .xml(let element?, let inside): "XML whose element “\(element)” is \(inside.noun)"
        case .xml(nil, _): "XML"
        case .text: "text of no known form"
        case .unknown: "data of no known form"
        }
    }

    private static func noun(_ container: Container) -> String {
        switch container {
        case .spc: "an SPC"
        case .ckc: "a CKC"
        case .certificate: "a certificate"
        case .spcOrCKC: "an SPC or CKC"
        }
    }

    private static func damage(_ container: Container, _ count: Int, _ stated: Int?) -> String {
        guard let stated else { return "\(noun(container)) that is cut short or has bytes too many" }
        return count < stated
            ? "\(noun(container)) that is cut off: \(count) bytes instead of \(stated)"
            : "\(noun(container)) with bytes too many: \(count) instead of \(stated)"
    }

    /// Whether it holds a private key next to a certificate, so that anyone with the one has the other.
    package var holdsPrivateKey: Bool { [.privateKey, .pkcs12, .pem(label: Self.certificateWithKey)].contains(core) }

    /// A short name for codes: `spcIsBase64`.
    package var name: String {
        switch self {
        case .empty: "Empty"
        case .spc: "SPC"
        case .ckc: "CKC"
        case .damaged: "CutShort"
        case .laterVersion: "LaterVersion"
        case .certificate: "Certificate"
        case .bundle: "Bundle"
        case .certificateRequest: "CertificateRequest"
        case .pkcs7: "PKCS7"
        case .pkcs12: "PKCS12"
        case .privateKey: "PrivateKey"
        case .publicKey: "PublicKey"
        case .pem: "PEM"
        case .webPage: "HTML"
        case .playlist: "Playlist"
        case .token: "Token"
        case .otherSystem: "OtherSystem"
        case .media: "Media"
        case .gzip: "Gzip"
        case .placeholder: "Placeholder"
        case .pointer: "Pointer"
        case .base64: "Base64"
        case .hexadecimal: "Hexadecimal"
        case .percentEncoded: "PercentEncoded"
        case .dataURI: "DataURI"
        case .utf16: "UTF16"
        case .quoted: "Quoted"
        case .numbers: "Numbers"
        case .characters: "Characters"
        case .preceded: "Preceded"
        case .readAsText: "ReadAsText"
        case .form: "Form"
        case .json: "JSON"
        case .xml: "XML"
        case .text: "Text"
        case .unknown: "Unknown"
        }
    }

    /// How to take the outermost encoding off, or `nil`.
    package var unwrapping: String? {
        switch self {
        case .base64: "Undo the base64: base64 -d FILE > BYTES."
        case .hexadecimal: "Undo the hexadecimal digits: xxd -r -p FILE > BYTES."
        case .percentEncoded: "Undo the URL encoding."
        case .dataURI: "Take the text after the comma, and undo its base64."
        case .utf16: "Write it as UTF-8: iconv -f UTF-16 -t UTF-8 FILE."
        case .quoted(let inside): "Take the quotation marks off\(inside.nextStep)."
        case .numbers: "Write the numbers as bytes."
        case .characters: "Write each character as the byte of its number: iconv -f UTF-8 -t ISO-8859-1 FILE > BYTES."
        case .preceded(.byteOrderMark, _):
            "Take the byte order mark off, three bytes that an editor puts before a file or a script."
        case .preceded(.text, _): "Have the script write nothing before it, not even warnings."
        case .form(let field, let inside): "Take the value of “\(field)”, and undo its URL encoding\(inside.nextStep)."
        case .json(let field?, let inside): "Take the member “\(field)”\(inside.nextStep)."
        case .xml(let element?, let inside): "Take the text of “\(element)”\(inside.nextStep)."
        default: nil
        }
    }

    /// The next step for an extracted value, appended to the sentence.
    private var nextStep: String {
        switch self {
        case .base64: ", then undo its base64"
        case .hexadecimal: ", then undo its hexadecimal digits"
        case .percentEncoded: ", then undo its URL encoding"
        case .numbers: ", then write its numbers as bytes"
        default: ""
        }
    }

    /// The noun, with the number of bytes if it is unspecific.
    /// - Parameter bytes: the recognized bytes.
    package func described(_ bytes: Data) -> String {
        switch core {
        case .text, .unknown: "\(noun) (\(bytes.count) bytes)"
        default: noun
        }
    }
}
