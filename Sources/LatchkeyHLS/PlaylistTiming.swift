import Foundation

/// The durations that a media playlist states, in seconds, and its longest items.
///
/// Source: draft-pantos-hls-rfc8216bis-20 §4.4.3.1, §4.4.3.7, §4.4.3.8, §4.4.4.1 and §4.4.4.9.
public struct PlaylistTiming: Sendable, Hashable {
    /// EXT-X-TARGETDURATION; `nil` if absent or not a number.
    public private(set) var target: Double?
    /// PART-TARGET of EXT-X-PART-INF.
    public private(set) var partTarget: Double?
    /// PART-HOLD-BACK of EXT-X-SERVER-CONTROL.
    public private(set) var partHoldBack: Double?
    /// HOLD-BACK of EXT-X-SERVER-CONTROL.
    public private(set) var holdBack: Double?
    /// CAN-SKIP-UNTIL of EXT-X-SERVER-CONTROL: the skip boundary.
    public private(set) var skipBoundary: Double?
    /// The longest EXTINF.
    public private(set) var longestSegment: Item?
    /// The longest EXT-X-PART.
    public private(set) var longestPart: Item?
    /// The line of the first EXT-X-DISCONTINUITY.
    public private(set) var discontinuity: Int?
    /// Whether the playlist has EXT-X-DISCONTINUITY-SEQUENCE.
    public private(set) var hasDiscontinuitySequence = false

    /// A duration and its line, counted from 1.
    public struct Item: Sendable, Hashable {
        /// In seconds.
        public let duration: Double
        /// The line of the tag.
        public let line: Int
    }
}

extension Playlist {
    /// The durations that the playlist states. Parses its bytes a second time.
    public var timing: PlaylistTiming {
        var timing = PlaylistTiming()
        source.withUnsafeBytes { bytes in
            var lines = LineScanner(bytes)
            while let line = lines.next() {
                if line.hasPrefix("#EXT") { timing.read(line, lines.number) }
            }
        }
        return timing
    }
}

extension PlaylistTiming {
    fileprivate mutating func read(_ line: Bytes, _ number: Int) {
        let colon = line.position(of: UInt8(ascii: ":")) ?? line.count
        let (name, body) = (line.part(0, colon), line.from(colon + 1))
        if name.equals("#EXTINF") {
            let seconds = body.part(0, body.position(of: .comma) ?? body.count)
            Self.note(Self.seconds(seconds), number, in: &longestSegment)
        } else if name.equals("#EXT-X-PART") {
            Self.note(Self.seconds("DURATION", of: body, number), number, in: &longestPart)
        } else if name.equals("#EXT-X-TARGETDURATION") {
            target = Self.seconds(body)
        } else if name.equals("#EXT-X-PART-INF") {
            partTarget = Self.seconds("PART-TARGET", of: body, number)
        } else if name.equals("#EXT-X-SERVER-CONTROL") {
            partHoldBack = Self.seconds("PART-HOLD-BACK", of: body, number)
            holdBack = Self.seconds("HOLD-BACK", of: body, number)
            skipBoundary = Self.seconds("CAN-SKIP-UNTIL", of: body, number)
        } else if name.equals("#EXT-X-DISCONTINUITY") {
            discontinuity = discontinuity ?? number
        } else if name.equals("#EXT-X-DISCONTINUITY-SEQUENCE") {
            hasDiscontinuitySequence = true
        }
    }

    private static func note(_ duration: Double?, _ line: Int, in longest: inout Item?) {
        guard let duration, duration > longest?.duration ?? -1 else { return }
        longest = Item(duration: duration, line: line)
    }

    private static func seconds(_ name: StaticString, of body: Bytes, _ line: Int) -> Double? {
        (try? AttributeList(body, line: line, limit: 64))?[name].flatMap { seconds($0.value) }
    }

    private static func seconds(_ text: Bytes) -> Double? {
        Double(text.trimmed.text).flatMap { $0.isFinite && $0 >= 0 ? $0 : nil }
    }
}
