import Foundation

@testable import LatchkeyHTTP

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

/// The head of a request, all together and in pieces: both ways it is the same head, or refused for the same reason.
func fuzzHead(_ data: Data) {
    let whole = head(data, step: data.count)
    require(head(data, step: data.count / 13 + 1) == whole, "in pieces, it is something else")
    guard let whole, case .success(let found) = whole else { return }
    require(found.isOld || found.headers.values(of: .host).count == 1, "not one host")
    require(found.headers.values(of: .contentLength).count <= 1, "several lengths")
}

private func head(_ data: Data, step: Int) -> Result<RequestHead, HTTPRefusal>? {
    var scan = HeadScan()
    do throws(HTTPRefusal) {
        for end in stride(from: step, to: data.count + step, by: max(step, 1)) {
            let found = try Array(data.prefix(end)).withUnsafeBufferPointer { bytes throws(HTTPRefusal) in
                try scan.head(in: UnsafeRawBufferPointer(bytes), most: 16_384)
            }
            if let found { return .success(found.head) }
        }
        return nil
    } catch {
        return .failure(error)
    }
}

/// A chunked body, all together and in pieces: both ways it has the same bytes and the same end.
func fuzzChunks(_ data: Data) {
    let whole = chunks(data, step: data.count)
    require(whole.bytes.count <= data.count, "more bytes than there were")
    require(chunks(data, step: data.count / 13 + 1) == whole, "in pieces, it is something else")
}

private struct Chunks: Equatable {
    var bytes: [UInt8] = []
    var hasEnded = false
    var refusal: HTTPRefusal?
}

private func chunks(_ data: Data, step: Int) -> Chunks {
    var (body, found, used) = (ChunkedBody(mostBytes: 65_536, mostTrailerBytes: 1_024), Chunks(), 0)
    do throws(HTTPRefusal) {
        for end in stride(from: step, to: data.count + step, by: max(step, 1)) {
            try Array(data.prefix(end)).withUnsafeBufferPointer { bytes throws(HTTPRefusal) in
                reading: while true {
                    switch try body.next(in: UnsafeRawBufferPointer(bytes), &used) {
                    case .piece(let range): found.bytes += bytes[range]
                    case .end:
                        found.hasEnded = true
                        break reading
                    case .more: break reading
                    }
                }
            }
            if found.hasEnded { break }
        }
    } catch {
        found.refusal = error
    }
    return found
}
