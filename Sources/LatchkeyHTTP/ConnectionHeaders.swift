import CMicroHTTPD
import Foundation

/// The header fields of the request that a connection is reading.
func connectionHeaders(_ connection: OpaquePointer) -> HTTPHeaders {
    var headers = HTTPHeaders()
    withUnsafeMutablePointer(to: &headers) { pointer in
        _ = MHD_get_connection_values_n(connection, .HEADER_KIND, takeHeader, pointer)
    }
    return headers
}

/// libmicrohttpd's iterator; `context` is the `HTTPHeaders` to fill.
private func takeHeader(
    context: UnsafeMutableRawPointer?, kind: MHD_ValueKind, name: UnsafePointer<CChar>?, nameCount: Int,
    value: UnsafePointer<CChar>?, valueCount: Int
) -> MHD_Result {
    guard let context, let name else { return .NO }
    let headers = context.assumingMemoryBound(to: HTTPHeaders.self)
    headers.pointee.append(HTTPHeaderName(text(name, nameCount)), value.map { text($0, valueCount) } ?? "")
    return .YES
}

private func text(_ start: UnsafePointer<CChar>, _ count: Int) -> String {
    String(decoding: UnsafeRawBufferPointer(start: start, count: count), as: UTF8.self)
}
