public import Foundation
import LatchkeyPlayback

/// A rendition that a multivariant playlist names.
public struct StandInRendition: Sendable, Hashable {
    /// `NAME`
    public let name: String
    /// `LANGUAGE`
    public let language: String?

    /// The renditions of a playlist.
    /// - Parameter type: `AUDIO` or `SUBTITLES`.
    public static func list(at address: String, type: String, on stage: StandInStage) async throws -> [Self] {
        String(decoding: try await stage.bytes(at: address), as: UTF8.self).split(whereSeparator: \.isNewline)
            .filter { $0.hasPrefix("#EXT-X-MEDIA:") && $0.contains("TYPE=\(type)") }
            .map { line in
                let quoted = { (name: String) in
                    line.range(of: "\(name)=\"").map { String(line[$0.upperBound...].prefix { $0 != "\"" }) }
                }
                return Self(name: quoted(",NAME") ?? "", language: quoted("LANGUAGE"))
            }
    }
}

extension StandInStage {
    /// Loads a small file.
    public func bytes(at address: String) async throws -> Data {
        try await resources.resource(at: address, range: nil, limit: 1 << 20).bytes
    }
}
