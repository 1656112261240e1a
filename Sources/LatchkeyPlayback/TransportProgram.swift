import Foundation

/// The elementary streams in the program map of a transport stream.
///
/// Source: ISO/IEC 13818-1 §2.4.4, Apple's "MPEG-2 Stream Encryption Format for HTTP Live Streaming" §3, `Documentation/Media.md` §6.
struct TransportProgram: Hashable {
    let streams: [ElementaryStream]
    /// Whether the map ends in the packet in which it begins.
    let isInOnePacket: Bool

    /// One stream of the map.
    struct ElementaryStream: Hashable {
        /// stream_type.
        let type: UInt8
        /// The descriptors, each its tag and its bytes.
        let descriptors: [Descriptor]

        /// The descriptors, each with its tag and bytes.
        var encrypted: EncryptedType? { EncryptedType(rawValue: type) }

        /// Audio or video with encrypted samples; `nil` for other types.
        func has(_ tag: UInt8, _ text: String) -> Bool {
            descriptors.contains { $0.tag == tag && $0.bytes.starts(with: text.utf8) }
        }
    }

    struct Descriptor: Hashable {
        let tag: UInt8
        let bytes: [UInt8]
    }

    /// The types of encrypted samples.
    enum EncryptedType: UInt8 {
        case h264 = 0xdb, aac = 0xcf, ac3 = 0xc1, eac3 = 0xc2

        /// Whether a descriptor with a tag begins with four characters.
        var indicator: String {
            switch self {
            case .h264: "zavc"
            case .aac: "aacd"
            case .ac3: "ac3d"
            case .eac3: "ec3d"
            }
        }
    }

    /// H.264, HEVC, AAC, MPEG audio, AC-3 and E-AC-3 in clear.
    static let clear: Set<UInt8> = [0x1b, hevc, 0x0f, 0x11, 0x03, 0x04, 0x81, 0x87]
    static let hevc: UInt8 = 0x24

    /// Whether samples are encrypted; `nil` if the stream types do not state it.
    var isEncrypted: Bool? {
        if streams.contains(where: { $0.encrypted != nil }) { return true }
        return streams.contains { Self.clear.contains($0.type) } ? false : nil
    }

    /// Reads the first program with a map.
    /// - Parameter bytes: a transport stream. An unreadable table gives `nil`.
    init?(_ bytes: Data) {
        let packets = bytes.prefix(Self.mostBytes)
        guard let table = Self.section(of: 0, id: 0, in: packets)?.bytes else { return nil }
        // Four bytes for each program: its number, and the PID of its map.
        for start in stride(from: 8, to: table.count - 3, by: 4) where table[start] != 0 || table[start + 1] != 0 {
            let pid = Int(table[start + 2] & 0x1f) << 8 | Int(table[start + 3])
            guard let map = Self.section(of: pid, id: 2, in: packets), map.bytes.count > 12 else { continue }
            (streams, isInOnePacket) = (Self.streams(in: map.bytes), map.isWhole)
            return
        }
        return nil
    }

    private static let mostBytes = 188 * 2_000

    private static func streams(in map: [UInt8]) -> [ElementaryStream] {
        var found: [ElementaryStream] = []
        var start = 12 + (Int(map[10] & 0x0f) << 8 | Int(map[11]))
        while start + 5 <= map.count {
            let end = start + 5 + (Int(map[start + 3] & 0x0f) << 8 | Int(map[start + 4]))
            var descriptors: [Descriptor] = []
            var rest = map[min(start + 5, map.count)..<min(end, map.count)]
            while let tag = rest.popFirst(), let length = rest.popFirst() {
                descriptors.append(Descriptor(tag: tag, bytes: Array(rest.prefix(Int(length)))))
                rest = rest.dropFirst(Int(length))
            }
            found.append(ElementaryStream(type: map[start], descriptors: descriptors))
            start = end
        }
        return found
    }

    /// A section without its checksum, up to the end of its first packet; `nil` if absent.
    private static func section(of pid: Int, id: UInt8, in bytes: Data) -> (bytes: [UInt8], isWhole: Bool)? {
        for start in stride(from: 0, through: bytes.count - 188, by: 188) {
            let packet = Array(bytes.dropFirst(start).prefix(188))
            guard packet[0] == 0x47, packet[1] & 0x40 != 0, Int(packet[1] & 0x1f) << 8 | Int(packet[2]) == pid,
                packet[3] & 0x10 != 0
            else { continue }
            let pointer = packet[3] & 0x20 == 0 ? 4 : 5 + Int(packet[4])
            guard pointer < 188 else { continue }
            let body = Array(packet.dropFirst(pointer + 1 + Int(packet[pointer])))
            guard body.count > 3, body[0] == id else { continue }
            let length = 3 + (Int(body[1] & 0x0f) << 8 | Int(body[2]))
            return (Array(body.prefix(max(0, length - 4))), length <= body.count)
        }
        return nil
    }
}
