import CMicroHTTPD
import Foundation

/// Hands a reply to libmicrohttpd.
///
/// - Returns: `NO`, which closes the connection, for a reset and if libmicrohttpd has no memory left.
func queue(_ response: HTTPResponse, on connection: OpaquePointer) -> MHD_Result {
    let made: OpaquePointer?
    switch response.body {
    case .reset:
        latchkey_mhd_reset(connection)
        return .NO
    case .bytes(let data):
        made = data.withUnsafeBytes {
            MHD_create_response_from_buffer(
                $0.count, UnsafeMutableRawPointer(mutating: $0.baseAddress), .RESPMEM_MUST_COPY)
        }
    case .file(let path, let offset, let count):
        guard let file = fileResponse(path, offset: offset, count: count) else {
            return queue(.text("The file cannot be read.", status: 500), on: connection)
        }
        made = file
    case .stream(let stream):
        let reader = Unmanaged.passRetained(BodyReader(stream, on: connection))
        made = latchkey_mhd_stream(16 * 1_024, takeBodyBytes, reader.toOpaque(), dropBody)
        if made == nil { reader.release() }
    }
    guard let made else { return .NO }
    defer { MHD_destroy_response(made) }
    // libmicrohttpd refuses a field with a line end in it, so that nobody can split a reply.
    for field in response.headers.fields {
        // Not passed as they are, because that copies each of them.
        field.name.rawValue.withCString { name in
            field.value.withCString { _ = MHD_add_response_header(made, name, $0) }
        }
    }
    return MHD_queue_response(connection, UInt32(clamping: response.status), made)
}

/// A reply from a part of a file; `nil` if the file is missing, is not a regular file or is shorter.
private func fileResponse(_ path: String, offset: UInt64, count: UInt64) -> OpaquePointer? {
    let file = open(path, O_RDONLY | O_CLOEXEC)
    guard file >= 0 else { return nil }
    var status = stat()
    let (end, isTooLong) = offset.addingReportingOverflow(count)
    guard fstat(file, &status) == 0, status.st_mode & S_IFMT == S_IFREG, !isTooLong,
        end <= UInt64(max(status.st_size, 0)),
        // From here the reply owns the file and closes it.
        let made = MHD_create_response_from_fd_at_offset64(count, file, offset)
    else {
        close(file)
        return nil
    }
    return made
}
