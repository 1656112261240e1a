import Foundation
import LatchkeyCore
import LatchkeyFairPlay

/// The playlist for measuring key discovery: 10,000 segments of film, other keys every 50 segments for two key systems, and a
/// token in every address. Always the same 1,163,764 bytes.
enum LargePlaylist {
    static let segmentCount = 10_000
    private static let segmentsPerKey = 50
    private static let segmentsPerDate = 10

    /// The playlist.
    static func bytes() throws -> Data {
        var text = """
            #EXTM3U
            #EXT-X-VERSION:6
            #EXT-X-TARGETDURATION:6
            #EXT-X-MEDIA-SEQUENCE:0
            #EXT-X-PLAYLIST-TYPE:VOD
            #EXT-X-INDEPENDENT-SEGMENTS
            #EXT-X-MAP:URI="video/avc1/1080p/init.mp4"

            """
        for number in 0..<segmentCount {
            let period = number / segmentsPerKey
            if number % segmentsPerKey == 0 { text += try keys(of: period) }
            if number % segmentsPerDate == 0 { text += date(of: number) }
            text +=
                "#EXTINF:6.00000,\nvideo/avc1/1080p/cmaf/periods/\(padded(period, 4))/segment-\(padded(number, 8)).m4s"
            text += "?token=0123456789abcdef&x=\(number)\n"
        }
        return Data((text + "#EXT-X-ENDLIST\n").utf8)
    }

    private static func keys(of period: Int) throws -> String {
        let hash = try MessageDigest.sha256(Array("k\(period)".utf8))
        let (id, iv) = (Data(hash.prefix(16)).hexString, Data(hash.suffix(16)).hexString)
        let box = Data([0, 0, 0, 0x4a] + Array("pssh".utf8) + hash).base64EncodedString()
        return """
            #EXT-X-KEY:METHOD=SAMPLE-AES,URI="skd://\(id)?period=\(period)",KEYFORMATVERSIONS="1",\
            KEYFORMAT="com.apple.streamingkeydelivery"
            #EXT-X-KEY:METHOD=SAMPLE-AES,URI="data:text/plain;base64,\(box)",KEYID=0x\(id),IV=0x\(iv),\
            KEYFORMATVERSIONS="1",KEYFORMAT="urn:uuid:edef8ba9-79d6-4ace-a3c8-27dcd51d21ed"

            """
    }

    private static func date(of segment: Int) -> String {
        let second = segment * 6
        let day = padded(1 + second / 86_400, 2)
        let time = [second / 3_600 % 24, second / 60 % 60, second % 60].map { padded($0, 2) }.joined(separator: ":")
        return "#EXT-X-PROGRAM-DATE-TIME:2026-01-\(day)T\(time).000Z\n"
    }

    private static func padded(_ number: Int, _ width: Int) -> String {
        let digits = String(number)
        return String(repeating: "0", count: max(0, width - digits.count)) + digits
    }
}
