package import Foundation
import LatchkeyCore
package import LatchkeyDecision
import LatchkeyForms
package import LatchkeyHTTP

/// A VuDRM license request: token, content ID and SPC, in the JSON or in the raw dialect.
///
/// Source: `Documentation/Vendors/VuDRM.md`, license request.
package struct VuDRMForm {
    /// The header field of the token in the raw dialect.
    package static let tokenField: HTTPHeaderName = "x-vudrm-token"

    package let token: String
    package let contentID: String
    package let spc: Data

    package init(_ call: some VendorRequest) throws(LicenseRefusal) {
        switch call.request.headers.mediaType {
        case "application/json":
            let body = try call.json()
            guard let token = body["token"]?.text, !token.isEmpty else { throw .tokenMissing("the JSON body") }
            let id = try body.required("contentId")
            // A configured URL may end in `/license`; a derived one names the content, too.
            let inPath = call.path["content"]
            guard inPath.isEmpty || inPath == id else { throw .malformed("The path and “contentId” differ.") }
            (self.token, contentID, spc) = (token, try Self.valid(id), try call.spc(in: body, "payload"))
        case "application/octet-stream":
            self = try Self(raw: call)
        case "arraybuffer":
            call.warn("contentType", "the content type is the word “arraybuffer”")
            self = try Self(raw: call)
        case let type:
            throw .mediaType(type)
        }
    }

    private init(raw call: some VendorRequest) throws(LicenseRefusal) {
        token = try call.token(inHeader: Self.tokenField)
        contentID = try Self.valid(call.path["content"])
        spc = call.request.body
    }

    /// The content ID in an SPC: the last path component of a whole key URI, or the identifier itself. Both are in use.
    package static func contentID(inIdentifier text: String) -> String {
        let end = text.utf8.firstIndex { $0 == UInt8(ascii: "?") || $0 == UInt8(ascii: "#") }
        let uri = KeyURI(String(text[..<(end ?? text.endIndex)]))
        return uri.pathComponents.last ?? uri.host
    }

    /// Refuses anything but letters, digits, `_` and `-`.
    package static func valid(_ id: String) throws(LicenseRefusal) -> String {
        guard !id.isEmpty, id.utf8.allSatisfy(isContentIDByte) else {
            throw .malformed("The content id has characters other than letters, digits, “_” and “-”, or none.")
        }
        return id
    }

    private static func isContentIDByte(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"): true
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "-"): true
        default: false
        }
    }
}
