/// The MD5 hashes of one stream's packets or pictures, as `ffmpeg -f framemd5` prints them.
public struct FrameHashes: Sendable, Hashable {
    /// The kind of the stream.
    public let media: MediaKind
    /// ffmpeg's name for its codec, such as `h264`, `aac`, `rawvideo`.
    public let codec: String
    /// 32 hexadecimal digits each, in file order.
    public internal(set) var hashes: [String]

    /// - Parameters:
    ///   - media: the kind of the stream.
    ///   - codec: the name of its codec.
    ///   - hashes: 32 hexadecimal digits each.
    public init(media: MediaKind, codec: String, hashes: [String]) {
        self.media = media
        self.codec = codec
        self.hashes = hashes
    }

    /// Parses ffmpeg's output: one entry for each of its video and audio streams.
    ///
    /// Field 6 of a line is the hash; further fields belong to side data. Other lines are skipped.
    static func read(_ text: String) -> [FrameHashes] {
        var kinds: [Int: MediaKind] = [:]
        var codecs: [Int: String] = [:]
        var hashes: [Int: [String]] = [:]
        for line in text.split(separator: "\n") {
            if line.hasPrefix("#media_type "), let (stream, value) = header(line) {
                kinds[stream] = MediaKind(rawValue: value)
            } else if line.hasPrefix("#codec_id "), let (stream, value) = header(line) {
                codecs[stream] = value
            } else if !line.hasPrefix("#") {
                let fields = line.split(separator: ",").map { $0.drop { $0 == " " } }
                guard fields.count > 5, let stream = Int(fields[0]) else { continue }
                hashes[stream, default: []].append(String(fields[5]))
            }
        }
        return kinds.sorted { $0.key < $1.key }.map { stream, kind in
            FrameHashes(media: kind, codec: codecs[stream] ?? "", hashes: hashes[stream] ?? [])
        }
    }

    /// `#media_type 0: video` gives 0 and `video`.
    private static func header(_ line: Substring) -> (stream: Int, value: String)? {
        let words = line.split(separator: " ", maxSplits: 2)
        guard words.count == 3, let stream = Int(words[1].prefix { $0 != ":" }) else { return nil }
        return (stream, String(words[2]))
    }
}

/// The kind of a stream inside a container.
public enum MediaKind: String, Sendable, Hashable, Codable, CaseIterable {
    case video
    case audio
}
