package import Foundation
import LatchkeyCore
package import LatchkeyDecision
package import LatchkeyHTTP

extension DoveRunnerToken {
    /// The header field, and the query item, of the token.
    package static let field = "pallycon-customdata-v2"

    /// The token in a request's header or query.
    /// - Throws: `tokenMissing`.
    package static func text(in request: HTTPRequest) throws(LicenseRefusal) -> String {
        guard let text = request.headers[HTTPHeaderName(field)] ?? request.queryValue(field), !text.isEmpty else {
            throw .tokenMissing("the header or the query item \(field)")
        }
        return text
    }
}

extension VendorRequest {
    /// The SPC, and the asset if the form names one.
    package func doveRunnerBody() throws(LicenseRefusal) -> (spc: Data, asset: String?) {
        if request.headers.mediaType == "application/octet-stream" {
            guard !request.body.isEmpty else { throw .doveRunner("7305", "The body is empty.") }
            warn("rawSPC", "the body is the SPC itself and not a form")
            return (request.body, nil)
        }
        let form = try self.form()
        guard let field = form["spc"], !field.isEmpty else { throw .doveRunner("7305", "There is no field “spc”.") }
        do {
            return (try spc(in: form), form["assetId"])
        } catch {
            throw .doveRunner("7317", error.reason)
        }
    }
}
