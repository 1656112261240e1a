import Foundation
package import LatchkeyCore
package import LatchkeyDecision
import LatchkeyFairPlay
package import LatchkeyHTTP

extension AxinomMessage {
    /// The header field, and the query item, of the message.
    package static let field = "X-AxDRM-Message"

    /// The message in a request.
    /// - Throws: `tokenMissing`.
    package static func text(in request: HTTPRequest) throws(LicenseRefusal) -> String {
        guard let text = request.headers[HTTPHeaderName(field)] ?? request.queryValue(field), !text.isEmpty else {
            throw .tokenMissing("the header or the query item \(field)")
        }
        return text
    }

    /// Key and IV, separated by a colon, with or without the scheme.
    package static func parts(of identifier: ContentIdentifier) -> (key: String, iv: String?)? {
        guard let text = identifier.text else { return nil }
        let parts = KeyURI(text).remainder.split(separator: ":", maxSplits: 1).map(String.init)
        return parts.first.map { ($0, parts.count > 1 ? parts[1] : nil) }
    }
}

extension HTTPResponse {
    /// A refusal as Axinom's: 400 for a request that is not understood or invalid, 403 for one that is denied, 500 for a fault of the service;
    /// the text in `X-AxDRM-ErrorMessage`, a limit of streams in `X-AxDRM-ErrorCode`, no body.
    ///
    /// Source: `Documentation/Vendors/Axinom.md`, errors.
    package static func axinom(_ refusal: LicenseRefusal) -> HTTPResponse {
        let status =
            switch refusal.kind {
            case .method, .mediaType, .overloaded, .vendor: refusal.status
            case .spc(.keyUnavailable): 500
            case .notCovered, .contentMismatch, .policy, .sessionLimit, .tokenUsed: 403
            default: 400
            }
        var headers: HTTPHeaders = ["X-AxDRM-ErrorMessage": headerText(refusal)]
        switch refusal.kind {
        case .sessionLimit, .vendor("1", _): headers["X-AxDRM-ErrorCode"] = "1"
        default: break
        }
        return HTTPResponse(status: status, headers: headers)
    }

    /// The refusal as a header field may hold it: ASCII in one line.
    private static func headerText(_ refusal: LicenseRefusal) -> String {
        let text = refusal.reason.replacing("“", with: "'").replacing("”", with: "'")
        return
            "\(refusal.code): \(String(text.unicodeScalars.filter { $0.isASCII && $0.value >= 32 }.map(Character.init)))"
    }
}
