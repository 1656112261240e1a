import Foundation
import LatchkeyHTTP

/// How a vendor writes a CKC that it sends as text.
public enum CKCText: Sendable, Hashable, CaseIterable {
    /// Base64 between `<ckc>` and `</ckc>`.
    case tagged
    /// Base64 alone.
    case bare
}

extension HTTPResponse {
    /// A certificate or a CKC as its own bytes.
    static func octets(_ bytes: Data) -> HTTPResponse {
        HTTPResponse(status: 200, contentType: "application/octet-stream", bytes: bytes)
    }

    /// A CKC as text.
    static func ckc(_ bytes: Data, as form: CKCText) -> HTTPResponse {
        let base64 = bytes.base64EncodedString()
        return .text(form == .tagged ? "<ckc>\(base64)</ckc>" : base64)
    }

    /// A JSON object, its members in alphabetical order.
    static func json(_ members: [String: JSONValue], status: Int = 200) -> HTTPResponse {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.withoutEscapingSlashes, .sortedKeys]
        let bytes = (try? encoder.encode(JSONValue.object(members))) ?? Data()
        return HTTPResponse(status: status, contentType: "application/json", bytes: bytes)
    }
}
