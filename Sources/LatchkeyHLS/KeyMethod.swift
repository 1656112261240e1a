/// The encryption method of a key's segments.
///
/// Source: RFC 8216 §4.3.2.4, `Documentation/HLS.md` §7 rule 11.
public enum KeyMethod: Sendable, Hashable {
    /// Not encrypted.
    case none
    /// Whole segments, AES-128 in CBC mode.
    case aes128
    /// Samples: `cbcs` in fMP4, sample encryption in a transport stream.
    case sampleAES
    /// Samples in fMP4, `cenc`.
    case sampleAESCTR
    /// A method unknown to this library, as written. Do not decrypt with it.
    case other(String)

    /// The method as written in a playlist.
    public var text: String {
        switch self {
        case .none: "NONE"
        case .aes128: "AES-128"
        case .sampleAES: "SAMPLE-AES"
        case .sampleAESCTR: "SAMPLE-AES-CTR"
        case .other(let text): text
        }
    }

    init(_ bytes: Bytes) {
        if bytes.equals("SAMPLE-AES") {
            self = .sampleAES
        } else if bytes.equals("SAMPLE-AES-CTR") {
            self = .sampleAESCTR
        } else if bytes.equals("AES-128") {
            self = .aes128
        } else if bytes.equals("NONE") {
            self = .none
        } else {
            self = .other(bytes.text)
        }
    }
}
