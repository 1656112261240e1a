import Foundation
import LatchkeyCore
import LatchkeyVendors

/// Looks for pieces of many secrets in one pass: 12 bytes of each as it is, percent-encoded, in base64 at each alignment, in
/// hexadecimal, and decoded from it.
struct SecretWindows {
    private static let width = 12
    private var windows: Set<UInt64> = []

    init(_ secrets: [String]) {
        for secret in secrets {
            let bytes = Array(secret.utf8)
            windows.insert(Self.hash(bytes.prefix(Self.width)))
            windows.insert(Self.hash(Array(Data(bytes).hexString.utf8).prefix(Self.width)))
            windows.insert(Self.hash(Array(Data(bytes).hexString.uppercased().utf8).prefix(Self.width)))
            // Bytes other than letters and digits, and hexadecimal digits as the bytes that they encode.
            windows.insert(Self.hash(Array(secret.percentEncoded.utf8).prefix(Self.width)))
            if let raw = Data(hexString: secret), raw.count >= Self.width {
                windows.insert(Self.hash(raw.prefix(Self.width)))
                for shift in 0..<3 {
                    let text = Array((Data(count: shift) + raw).base64EncodedString().utf8).dropFirst(4)
                    windows.insert(Self.hash(text.prefix(Self.width)))
                }
            }
            for shift in 0..<3 {
                let text = Array((Data(count: shift) + bytes).base64EncodedString().utf8).dropFirst(4)
                windows.insert(Self.hash(text.prefix(Self.width)))
            }
        }
    }

    private static func hash(_ bytes: some Sequence<UInt8>) -> UInt64 { bytes.reduce(0) { $0 &* 257 &+ UInt64($1) } }

    func isFound(in data: Data) -> Bool {
        let bytes = [UInt8](data)
        let first = (0..<Self.width).reduce(UInt64(1)) { power, _ in power &* 257 }
        var hash: UInt64 = 0
        for (index, byte) in bytes.enumerated() {
            hash = hash &* 257 &+ UInt64(byte)
            if index >= Self.width { hash = hash &- first &* UInt64(bytes[index - Self.width]) }
            if index >= Self.width - 1, windows.contains(hash) { return true }
        }
        return false
    }
}
