import Foundation
import LatchkeyVault

/// A `pssh` box of version 0, which carries one DRM system's data.
///
/// `size u32 ‖ "pssh" ‖ 0 u32 ‖ system ID 16 ‖ data size u32 ‖ data`, big-endian.
///
/// Source: `Documentation/LicenseServer.md` §2.4, ISO/IEC 23001-7 §8.1.
struct PSSHBox {
    /// The box.
    let bytes: [UInt8]

    init(_ system: DRMSystem, data: [UInt8]) {
        let body = Array("pssh".utf8) + UInt32(0).bytes + system.bytes + UInt32(clamping: data.count).bytes + data
        bytes = UInt32(clamping: body.count + 4).bytes + body
    }

    /// The box as XML for a `ContentProtection` element of DASH.
    var xml: String { "<pssh xmlns=\"urn:mpeg:cenc:2013\">\(bytes.base64)</pssh>" }
}

extension Sequence<UInt8> {
    /// Base64 with padding, on one line.
    var base64: String { Data(self).base64EncodedString() }
}
