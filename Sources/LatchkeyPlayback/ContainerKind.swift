public import Foundation

/// The container format of a segment.
///
/// The bytes decide, not the name. ffmpeg gets no other formats: a playlist or a concat script instead of a segment would make it
/// open other files.
public enum ContainerKind: String, Sendable, Hashable, Codable {
    /// Fragmented MP4 (CMAF).
    case fragmentedMP4
    /// MPEG-2 transport stream.
    case transportStream
    /// Elementary audio after an ID3 tag, or plain ADTS.
    case packedAudio

    /// - Parameter segment: a segment, or its first 400 bytes. Other formats give `nil`.
    public init?(segment: Data) {
        let head = Array(segment.prefix(400))
        if Self.isTransportStream(head) {
            self = .transportStream
        } else if head.starts(with: "ID3".utf8) || Self.isADTS(head) {
            self = .packedAudio
        } else if Self.boxTypes.contains(String(decoding: head.dropFirst(4).prefix(4), as: UTF8.self)) {
            self = .fragmentedMP4
        } else {
            return nil
        }
    }

    /// The file extension that ffmpeg expects.
    var fileExtension: String {
        switch self {
        case .fragmentedMP4: "m4s"
        case .transportStream: "ts"
        case .packedAudio: "aac"
        }
    }

    private static let boxTypes: Set = ["ftyp", "styp", "moov", "moof", "sidx", "emsg", "prft", "free", "skip"]

    private static func isTransportStream(_ head: [UInt8]) -> Bool {
        let packets = stride(from: 0, to: head.count, by: 188)
        return head.count >= 188 && packets.allSatisfy { head[$0] == 0x47 }
    }

    private static func isADTS(_ head: [UInt8]) -> Bool {
        head.count >= 7 && head[0] == 0xff && head[1] & 0xf6 == 0xf0
    }
}
