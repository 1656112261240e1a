import Foundation
import LatchkeyCore
import LatchkeyFairPlay

/// What is to be seen of a CKC from outside.
struct CKCInspection: Inspection {
    let kind = "ckc"
    let bytes: Int
    let iv: String
    let payloadBytes: Int

    /// - Throws: `CKCFormatError`, which names what the bytes look like instead.
    init(_ bytes: Data) throws {
        let container = try CKCContainer([UInt8](bytes))
        self.bytes = bytes.count
        iv = container.bytes[container.ivRange].hexString
        payloadBytes = container.payloadRange.count
    }

    var facts: [(name: String, value: String)] {
        [
            ("CKC", "\(bytes) bytes, version 1"), ("IV", iv), ("Payload", "\(payloadBytes) bytes, encrypted"),
            ("Inside", "only the device whose SPC it answers can look: latchkey open-ckc --state FILE"),
        ]
    }

    var warnings: [String] { [] }
}
