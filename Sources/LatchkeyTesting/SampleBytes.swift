public import Foundation

/// Bytes of the right outer shape that open nothing: a certificate, SPCs, CKCs.
public enum SampleBytes {
    /// Bytes that a client takes for a DER certificate: 260 bytes with the parts of one, whose key and signature are invalid.
    public static let certificate: Data = {
        let sha256WithRSA: [UInt8] = [
            0x30, 0x0d, 0x06, 0x09, 0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x01, 0x0b, 0x05, 0x00,
        ]
        let rsa = sha256WithRSA.map { $0 == 0x0b ? 0x01 : $0 }
        let nobody: [UInt8] = [0x30, 0x0b, 0x31, 0x09, 0x30, 0x07, 0x06, 0x03, 0x55, 0x04, 0x03, 0x0c, 0x00]
        let times = ["260101000000Z", "360101000000Z"]
        let dates: [UInt8] = [0x30, 0x1e] + times.flatMap { [0x17, 0x0d] + Array($0.utf8) }
        let key: [UInt8] = [0x30, 0x52] + rsa + [0x03, 0x41, 0x00] + Array(0..<64)
        let versionAndNumber: [UInt8] = [0xa0, 0x03, 0x02, 0x01, 0x02, 0x02, 0x01, 0x01]
        let body = versionAndNumber + sha256WithRSA + nobody + dates + nobody + key
        let signature: [UInt8] = [0x03, 0x47, 0x00] + Array(0..<70)
        let heads: [UInt8] = [0x30, 0x82, 0x01, 0x00, 0x30, 0x81, 0xa5]
        return Data(heads + body + sha256WithRSA + signature)
    }()

    /// A short SPC whose base64 has everything that is hard to send, `+`, `/` and padding: `+/8AAQ==`.
    public static let spc = Data([0xfb, 0xff, 0x00, 0x01])

    /// A CKC of version 1: a header of 28 bytes that states the length of the rest.
    /// - Parameters:
    ///   - number: distinguishes it from others.
    ///   - cutting: the number of bytes missing at the end.
    public static func ckc(_ number: Int = 0, cutting: Int = 0) -> Data {
        let version = Data([0, 0, 0, 1, 0, 0, 0, 0])
        let iv = withUnsafeBytes(of: UInt64(number).bigEndian) { Data($0) } + Data(repeating: 0xa5, count: 8)
        let length = Data([0, 0, 0, 64])
        return (version + iv + length + Data(repeating: UInt8(truncatingIfNeeded: number), count: 64)).dropLast(cutting)
    }
}
