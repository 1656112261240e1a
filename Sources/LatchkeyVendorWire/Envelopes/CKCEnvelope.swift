package import Foundation
package import LatchkeyDecision
package import LatchkeyForms
package import LatchkeyHTTP

/// How a service writes a CKC, if clients of the vendor accept several forms.
///
/// Source: `Documentation/Vendors/README.md` §0.
package enum CKCEnvelope: Sendable, Hashable, CaseIterable {
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
    package static func ckc(_ bytes: Data, in envelope: CKCEnvelope) -> HTTPResponse {
        let base64 = bytes.base64EncodedString()
        return switch envelope {
        case .raw: .octets(bytes)
        case .base64: .text(base64)
        case .tagged: .text("<ckc>\(base64)</ckc>")
        case .json: .json(["ckc": .text(base64)])
        }
    }

    /// A certificate or a CKC as its own bytes.
    package static func octets(_ bytes: Data) -> HTTPResponse {
        HTTPResponse(contentType: "application/octet-stream", bytes: bytes)
    }

    /// A JSON object, its members in alphabetical order.
    package static func json(_ members: [String: JSONValue], status: Int = 200) -> HTTPResponse {
        let bytes = Data(JSONValue.object(members).canonicalText.utf8)
        return HTTPResponse(status: status, contentType: "application/json", bytes: bytes)
    }

    /// A refusal as status and plain text.
    package static func plain(_ refusal: LicenseRefusal) -> HTTPResponse {
        .text("\(refusal.code): \(refusal.reason)", status: refusal.status)
    }
}
