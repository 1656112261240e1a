import Foundation
import LatchkeyHTTP

/// A multipart body with one boundary. Every part must be a range of the body.
func fuzzMultipart(_ data: Data) {
    let request = HTTPRequest(
        method: "POST", target: "/", headers: ["Content-Type": "multipart/form-data; boundary=b"], body: data)
    guard let form = MultipartForm(request) else { return }
    require(form.parts.count <= 64, "more parts than the limit")
    require(form.parts.map(\.body.count).reduce(0, +) <= data.count, "more bytes than there were")
}

/// The target of a request, also below a prefix.
func fuzzRequestTarget(_ data: Data) {
    let request = HTTPRequest(method: "GET", target: String(decoding: data, as: UTF8.self))
    _ = request.queryValue("token")
    require(request.queryItems.count <= request.target.utf8.count, "more items than bytes")
    guard let below = request.below("/vudrm") else { return }
    require(below.target.hasPrefix("/"), "a target below a prefix has no slash")
    require(below.queryItems == request.queryItems, "a prefix changes the query")
}
