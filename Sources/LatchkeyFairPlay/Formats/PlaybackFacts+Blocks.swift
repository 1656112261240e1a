import Foundation
import LatchkeyCore

// How an SPC encodes these facts. The simulated device and the key server share this code: SPC and CKC have one
// implementation, checked against published vectors. Only a vendor's wire is written twice.

extension MediaPlayback {
    /// The block's value: seconds since 1970 (4), state (4), session (8).
    package var blockValue: [UInt8] {
        UInt32(saturating: created.timeIntervalSince1970).bigEndianBytes + state.rawValue.bigEndianBytes
            + session.rawValue.bigEndianBytes
    }

    /// - Parameter value: 16 bytes.
    init(blockValue value: ArraySlice<UInt8>) {
        self.init(
            created: Date(timeIntervalSince1970: TimeInterval(UInt32(bigEndian: value.prefix(4)))),
            state: PlaybackState(rawValue: UInt32(bigEndian: value.dropFirst(4).prefix(4))),
            session: PlaybackSessionID(rawValue: UInt64(bigEndian: value.suffix(8))))
    }
}

extension StreamingDestination {
    /// The block's value as a number; `nil` for the device itself, which sends any other number.
    package var wireCode: UInt64? {
        switch self {
        case .airPlay: 0xabb0_256a_3184_3974
        case .digitalAVAdapter: 0x5f9c_8132_b59f_2fde
        case .device: nil
        }
    }

    /// - Parameter value: 8 bytes; `nil` without the block.
    init(blockValue value: ArraySlice<UInt8>?) {
        let code = value.map { UInt64(bigEndian: $0) }
        self = [.airPlay, .digitalAVAdapter].first { $0.wireCode == code } ?? .device
    }
}

extension DeviceCapabilities {
    /// The block's value: 128 flags, the lowest last.
    package var blockValue: [UInt8] { UInt64(0).bigEndianBytes + rawValue.bigEndianBytes }

    /// - Parameter value: 16 bytes; `nil` without the block.
    init(blockValue value: ArraySlice<UInt8>?) {
        self.init(rawValue: value.map { UInt64(bigEndian: $0.suffix(8)) } ?? 0)
    }
}
