import Foundation

extension HTTPResponse {
    /// A file, or the part of it that the request's `Range` asks for: 200, 206 or 416; 404 if there is no regular file.
    ///
    /// - Parameters:
    ///   - path: the file. The caller has made sure that the client may have it.
    ///   - contentType: its media type.
    ///   - request: the request to answer.
    public static func file(_ path: String, contentType: String, for request: HTTPRequest) -> HTTPResponse {
        var status = stat()
        guard stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG, let size = UInt64(exactly: status.st_size)
        else { return .text("There is no such file.", status: 404) }
        var headers: HTTPHeaders = [.contentType: contentType, .acceptRanges: "bytes"]
        switch RequestedRange(request.headers[.range], size: size) {
        case .whole:
            return HTTPResponse(status: 200, headers: headers, body: .file(path: path, offset: 0, count: size))
        case .part(let offset, let count):
            headers[.contentRange] = "bytes \(offset)-\(offset + count - 1)/\(size)"
            return HTTPResponse(status: 206, headers: headers, body: .file(path: path, offset: offset, count: count))
        case .unsatisfiable:
            headers[.contentRange] = "bytes */\(size)"
            return HTTPResponse(status: 416, headers: headers)
        }
    }
}
