internal import COpenSSL

/// A libcrypto stream in memory. Its bytes are erased when it is destroyed.
final class MemoryBIO {
    let pointer: OpaquePointer

    /// An empty stream to write to.
    init?() {
        guard let bio = BIO_new(BIO_s_secmem() ?? BIO_s_mem()) else { return nil }
        pointer = bio
    }

    /// A stream to read bytes from.
    convenience init?(_ bytes: [UInt8]) {
        self.init()
        guard bytes.count <= Int(Int32.max), BIO_write(pointer, bytes, Int32(bytes.count)) == Int32(bytes.count) else {
            return nil
        }
    }

    deinit { BIO_free(pointer) }

    /// Calls a closure with the contents.
    func withContents<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result {
        var start: UnsafePointer<UInt8>?
        let count = latchkey_bio_contents(pointer, &start)
        defer { withExtendedLifetime(self) {} }
        return body(UnsafeRawBufferPointer(start: start, count: start == nil ? 0 : count))
    }

    /// The contents as text.
    var text: String { withContents { String(decoding: $0, as: UTF8.self) } }
}
