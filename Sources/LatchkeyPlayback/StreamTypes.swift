import Foundation

/// What the containers without boxes say of their encryption: a transport stream's table of programs, the tag of packed audio.
///
/// Source: `Documentation/Media.md` §6.
enum StreamTypes {
    /// Whether a transport stream's types are those of encrypted samples; `nil` if its table cannot be read.
    static func isEncrypted(transportStream bytes: Data) -> Bool? {
        let packets = bytes.prefix(mostBytes)
        guard let table = section(of: 0, id: 0, in: packets) else { return nil }
        // Four bytes for each program: its number, and the PID of its map.
        for start in stride(from: 8, to: table.count - 3, by: 4) where table[start] != 0 || table[start + 1] != 0 {
            let pid = Int(table[start + 2] & 0x1f) << 8 | Int(table[start + 3])
            guard let map = section(of: pid, id: 2, in: packets), map.count > 12 else { continue }
            let types = types(in: map)
            if !types.isDisjoint(with: encrypted) { return true }
            if !types.isDisjoint(with: clear) { return false }
        }
        return nil
    }

    /// Whether packed audio begins with the tag that describes encrypted audio; `nil` if it does not, as there are other ways.
    static func isEncrypted(packedAudio bytes: Data) -> Bool? {
        bytes.prefix(mostBytes).range(of: Data("com.apple.streaming.audioDescription".utf8)) == nil ? nil : true
    }

    /// H.264, AAC, AC-3 and E-AC-3 with encrypted samples.
    private static let encrypted: Set<UInt8> = [0xdb, 0xcf, 0xc1, 0xc2]
    /// H.264, HEVC, AAC, MPEG audio, AC-3 and E-AC-3 in clear.
    private static let clear: Set<UInt8> = [0x1b, 0x24, 0x0f, 0x11, 0x03, 0x04, 0x81, 0x87]
    private static let mostBytes = 188 * 2_000

    private static func types(in map: [UInt8]) -> Set<UInt8> {
        var found: Set<UInt8> = []
        var start = 12 + (Int(map[10] & 0x0f) << 8 | Int(map[11]))
        while start + 5 <= map.count {
            found.insert(map[start])
            start += 5 + (Int(map[start + 3] & 0x0f) << 8 | Int(map[start + 4]))
        }
        return found
    }

    /// A section without its checksum, as far as it stands in its first packet; `nil` if there is none.
    private static func section(of pid: Int, id: UInt8, in bytes: Data) -> [UInt8]? {
        for start in stride(from: 0, through: bytes.count - 188, by: 188) {
            let packet = Array(bytes.dropFirst(start).prefix(188))
            guard packet[0] == 0x47, packet[1] & 0x40 != 0, Int(packet[1] & 0x1f) << 8 | Int(packet[2]) == pid,
                packet[3] & 0x10 != 0
            else { continue }
            let pointer = packet[3] & 0x20 == 0 ? 4 : 5 + Int(packet[4])
            guard pointer < 188 else { continue }
            let body = Array(packet.dropFirst(pointer + 1 + Int(packet[pointer])))
            guard body.count > 3, body[0] == id else { continue }
            let length = Int(body[1] & 0x0f) << 8 | Int(body[2])
            return Array(body.prefix(max(0, 3 + length - 4)))
        }
        return nil
    }
}
