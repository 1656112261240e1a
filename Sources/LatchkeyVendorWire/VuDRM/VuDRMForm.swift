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
            (self.token, contentID, spc) = (token, try Self.valid(id, call), try call.spc(in: body, "payload"))
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
        contentID = try Self.valid(call.path["content"], call)
        spc = call.request.body
    }

    /// The content ID in an SPC: the last path component of a whole key URI, or the identifier itself. Both are in use.
    package static func contentID(inIdentifier text: String) -> String {
        let end = text.utf8.firstIndex { $0 == UInt8(ascii: "?") || $0 == UInt8(ascii: "#") }
        let uri = KeyURI(String(text[..<(end ?? text.endIndex)]))
        return uri.pathComponents.last ?? uri.host
    }

    /// Whether an id has letters, digits, `_` and `-` only.
    package static func isValid(_ id: String) -> Bool { id.isMadeOfLettersDigits(and: "_-", limit: .max) }

    private static func valid(_ id: String, _ call: some VendorRequest) throws(LicenseRefusal) -> String {
        guard !id.isEmpty else { throw .malformed("The request has no content id.") }
        guard !isValid(id) else { return id }
        try call.breach(
            of: VuDRMAPI.contentID, "The content id has characters other than letters, digits, “_” and “-”.")
        return id
    }
}
