public import Foundation

/// Bytes of the right outer shape that open nothing: a certificate, SPCs, CKCs.
public enum SampleBytes {
    /// What a client takes for a DER certificate: a SEQUENCE of 260 bytes.
    public static let certificate = Data([0x30, 0x82, 0x01, 0x00]) + Data((0..<256).map { UInt8($0) })

    /// A short SPC whose base64 has all that is hard to send, `+`, `/` and padding: `+/8AAQ==`.
    public static let spc = Data([0xfb, 0xff, 0x00, 0x01])

    /// A CKC of version 1: a header of 28 bytes that states the length of what follows.
    /// - Parameters:
    ///   - number: makes it differ from others.
    ///   - cutting: how many bytes are missing at the end.
    public static func ckc(_ number: Int = 0, cutting: Int = 0) -> Data {
        let version = Data([0, 0, 0, 1, 0, 0, 0, 0])
        let iv = withUnsafeBytes(of: UInt64(number).bigEndian) { Data($0) } + Data(repeating: 0xa5, count: 8)
        let length = Data([0, 0, 0, 64])
        return (version + iv + length + Data(repeating: UInt8(truncatingIfNeeded: number), count: 64)).dropLast(cutting)
    }
}
