import LatchkeyDecision
import LatchkeyFairPlay
import LatchkeyForms
import LatchkeyHTTP

/// A refusal as the service names and numbers it.
struct NAVERError {
    let code: String
    let status: Int

    init(_ refusal: LicenseRefusal) {
        switch refusal.kind {
        case .vendor(let code, let status): (self.code, self.status) = (code, status)
        case .unknownTenant: (code, status) = ("281003", 400)
        case .tokenMalformed: (code, status) = ("280001", 400)
        // A policy that asks the client to wait says nothing about the content.
        case .policy where refusal.status != 403: (code, status) = ("280000", refusal.status)
        case .notCovered, .contentMismatch, .policy, .sessionLimit, .unknownKey, .ambiguousKey, .tokenExpired,
            .tokenNotYetValid, .tokenSignature, .tokenUsed:
            (code, status) = ("2810012", 400)
        case .tokenMissing, .malformedRequest: (code, status) = ("280003", 400)
        case .method, .mediaType: (code, status) = ("280003", refusal.status)
        case .spc(.keyUnavailable), .overloaded: (code, status) = ("280000", 500)
        case .spc: (code, status) = ("280002", 400)
        }
    }

    func reply(_ words: String) -> HTTPResponse {
        .json(
            [
                "error": .object([
                    "code": .text(code), "name": .text(Self.names[code] ?? "UNAUTHORIZED"), "message": .text(words),
                ])
            ], status: status)
    }

    private static let names = [
        "280000": "EXCEPTION", "280001": "JSON_PARSE_FAILED_EXCEPTION", "280002": "WEB_COMMON_UNHANDLED_EXCEPTION",
        "280003": "WEB_INVALID_PARAMETER_TYPE_TWO_PARAM", "281003": "SITE_NOT_FOUND",
        "281004": "SITE_STATUS_NOT_RUNNING", "281005": "SITE_STATUS_NOT_ON", "2810011": "SITE_CERT_INCOMPLETE",
        "2810012": "LICENSE_DRM_INFO_NOT_FOUND",
    ]
}
