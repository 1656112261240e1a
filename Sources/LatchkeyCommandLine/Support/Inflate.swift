import CZlib
import Foundation
import LatchkeyCore

/// Decompresses gzip and zlib, in which recorders store captures: `.har.gz`, `.zhar`.
///
/// Source: RFC 1950, RFC 1952; zlib's manual, `inflateInit2` and `inflate`.
enum Inflate {
    /// - Parameter limit: in bytes, decompressed.
    /// - Returns: the data unchanged if they are not compressed.
    /// - Throws: a `Diagnosis` if the data are truncated, damaged, or larger than `limit` bytes.
    static func unpacked(_ data: Data, limit: Int = 256 << 20) throws(Diagnosis) -> Data {
        let bytes = [UInt8](data)
        let isZlib = bytes.count > 1 && bytes[0] == 0x78 && (0x7800 | Int(bytes[1])) % 31 == 0 && bytes[1] & 0x20 == 0
        guard isZlib || bytes.starts(with: [0x1f, 0x8b, 8]) else { return data }
        var stream = z_stream()
        // The largest window, plus 32 to accept either header.
        var status = inflateInit2_(&stream, 15 + 32, ZLIB_VERSION, Int32(MemoryLayout<z_stream>.size))
        defer { inflateEnd(&stream) }
        return try bytes.withUnsafeBufferPointer { input throws(Diagnosis) -> Data in
            (stream.next_in, stream.avail_in) = (input.baseAddress, UInt32(clamping: input.count))
            var (out, piece) = (Data(), [UInt8](repeating: 0, count: 1 << 16))
            while status == Z_OK {
                status = piece.withUnsafeMutableBufferPointer { room in
                    (stream.next_out, stream.avail_out) = (room.baseAddress, UInt32(clamping: room.count))
                    return inflate(&stream, Z_NO_FLUSH)
                }
                out += piece.dropLast(Int(stream.avail_out))
                guard out.count <= limit else {
                    throw failure(
                        "The capture has more than \(limit >> 20) MiB when it is unpacked.",
                        "Record the playback alone, without other traffic.")
                }
            }
            // For truncated data, zlib has no message.
            let words = stream.msg.map { "is damaged (\(String(cString: $0)))" } ?? "breaks off"
            guard status == Z_STREAM_END else {
                throw failure("The compressed capture \(words).", "Copy the whole file again, as bytes.")
            }
            return out
        }
    }

    private static func failure(_ reason: String, _ remedy: String) -> Diagnosis {
        Diagnosis(code: "captureMalformed", reason: reason, remedy: remedy)
    }
}
