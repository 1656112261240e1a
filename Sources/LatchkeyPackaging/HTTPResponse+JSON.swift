import Foundation
package import LatchkeyForms
package import LatchkeyHTTP

extension HTTPResponse {
    /// A JSON reply that must not be cached.
    package static func json(_ value: JSONValue, status: Int = 200) -> HTTPResponse {
        HTTPResponse(
            status: status, headers: [.contentType: "application/json", .cacheControl: "no-store"],
            body: .bytes(Data(value.canonicalText.utf8)))
    }
}
