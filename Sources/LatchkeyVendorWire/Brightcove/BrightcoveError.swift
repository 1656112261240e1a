import Foundation
import LatchkeyDecision
import LatchkeyFairPlay
import LatchkeyForms
import LatchkeyHTTP

/// A refusal as Brightcove's playback restrictions name it. The shape around the two codes is the Playback API's, inferred for licenses.
///
/// Source: apis.support.brightcove.com/playback-restrictions/references/playback-rights-errors.html, read on 2026-11-27.
struct BrightcoveError {
    let status: Int
    let code: String
    /// Distinguishes errors with the same code; `nil` if the page has none.
    let subcode: String?

    init(_ refusal: LicenseRefusal) {
        switch refusal.kind {
        case .vendor(let told, let status):
            (self.status, subcode) = (status, told)
            code = Self.code(of: status)
            return
        case .tokenMissing: (status, subcode) = (401, "TOKEN_REQUIRED")
        case .tokenMalformed, .tokenExpired, .tokenNotYetValid, .tokenSignature, .tokenUsed:
            (status, subcode) = (401, "TOKEN_VALIDATION")
        case .unknownTenant: (status, subcode) = (403, "ACCOUNT_ID")
        // A policy that asks the client to wait says nothing about the video.
        case .policy where refusal.status != 403: (status, subcode) = (refusal.status, nil)
        case .notCovered, .contentMismatch, .policy: (status, subcode) = (403, "VIDEO_NOT_PLAYABLE")
        case .sessionLimit: (status, subcode) = (403, "DENIED_BY_STREAM_LIMIT")
        case .unknownKey, .ambiguousKey: (status, subcode) = (404, "VIDEO_NOT_FOUND")
        case .spc(.keyUnavailable), .overloaded: (status, subcode) = (500, nil)
        case .malformedRequest, .spc: (status, subcode) = (400, nil)
        case .method, .mediaType: (status, subcode) = (405, nil)
        }
        code = Self.code(of: status)
    }

    func reply(_ words: String) -> HTTPResponse {
        var members: [String: JSONValue] = ["error_code": .text(code), "message": .text(words)]
        members["error_subcode"] = subcode.map { .text($0) }
        let bytes = Data(JSONValue.array([.object(members)]).canonicalText.utf8)
        return HTTPResponse(status: status, contentType: "application/json", bytes: bytes)
    }

    private static func code(of status: Int) -> String {
        switch status {
        case 401, 403: "ACCESS_DENIED"
        case 404: "NOT_FOUND"
        case 405: "METHOD_NOT_ALLOWED"
        case 500...: "SERVER_ERROR"
        default: "BAD_REQUEST"
        }
    }
}
