import Foundation
import LatchkeyHTTP

/// How a service writes a CKC, where clients of the vendor take any of these.
///
/// Source: `vendors.md` §0, CKC decoding ladder.
public enum CKCEnvelope: Sendable, Hashable, CaseIterable {
    /// Its own bytes.
    case raw
    /// Base64 text.
    case base64
    /// Base64 between `<ckc>` and `</ckc>`.
    case tagged
    /// `{"ckc":"<base64>"}`.
    case json
}

extension HTTPResponse {
    /// A CKC in an envelope.
    static func ckc(_ bytes: Data, in envelope: CKCEnvelope) -> HTTPResponse {
        switch envelope {
        case .raw: .octets(bytes)
        case .base64: .ckc(bytes, as: .bare)
        case .tagged: .ckc(bytes, as: .tagged)
        case .json: .json(["ckc": .text(bytes.base64EncodedString())])
        }
    }
}
