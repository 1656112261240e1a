package import LatchkeyCore

/// Which key encrypts which tracks.
///
/// Source: `Documentation/LicenseServer.md` §2.3.
package struct EncryptionContract: Sendable, Hashable {
    /// One key for the tracks of one kind.
    package struct Rule: Sendable, Hashable {
        /// The key's identifier.
        package let kid: KeyID
        /// The name of the kind of tracks: free text, parts joined by `+`; `ALL` is everything.
        package let trackType: String
        /// The video tracks, if any.
        package let video: [VideoFilter]
        /// The audio tracks, if any.
        package let audio: [AudioFilter]
        /// The periods of the rule; empty means all.
        package let periods: Set<String>

        package init(kid: KeyID, trackType: String, video: [VideoFilter], audio: [AudioFilter], periods: Set<String>) {
            self.kid = kid
            self.trackType = trackType
            self.video = video
            self.audio = audio
            self.periods = periods
        }
    }

    /// Video tracks; without limits, all of them.
    package struct VideoFilter: Sendable, Hashable {
        /// The range of pixels in a picture.
        package let pixels: Bounds
        /// The range of frames in a second.
        package let framesPerSecond: Bounds
        /// Whether the tracks have high dynamic range; `nil` means both.
        package let isHDR: Bool?

        package init(pixels: Bounds, framesPerSecond: Bounds, isHDR: Bool?) {
            self.pixels = pixels
            self.framesPerSecond = framesPerSecond
            self.isHDR = isHDR
        }

        var isBare: Bool { pixels.isOpen && framesPerSecond.isOpen && isHDR == nil }
    }

    /// Audio tracks; without limits, all of them.
    package struct AudioFilter: Sendable, Hashable {
        /// The range of channels.
        package let channels: Bounds

        package init(channels: Bounds) {
            self.channels = channels
        }

        var isBare: Bool { channels.isOpen }
    }

    /// A range whose ends may be open. Both ends are included.
    package struct Bounds: Sendable, Hashable {
        /// The least value.
        package let least: Int?
        /// The greatest value.
        package let most: Int?

        package init(least: Int?, most: Int?) {
            self.least = least
            self.most = most
        }

        var isOpen: Bool { least == nil && most == nil }
    }

    /// The rules in the order of the document.
    package let rules: [Rule]

    package init(rules: [Rule]) { self.rules = rules }

    /// The rules of one key, in order.
    package func rules(of kid: KeyID) -> [Rule] { rules.filter { $0.kid == kid } }

    /// Whether one key serves audio and video of more pixels than given.
    package func sharesAudio(withVideoAbove pixels: Int) -> Bool {
        Dictionary(grouping: rules, by: \.kid).values.contains { rules in
            rules.contains { !$0.audio.isEmpty }
                && rules.contains { $0.video.contains { $0.pixels.most.map { $0 > pixels } ?? true } }
        }
    }

    /// Whether track types are unique and `ALL` is the only one, in every period.
    package var isConsistent: Bool {
        let periods = rules.reduce(into: Set<String>()) { $0.formUnion($1.periods) }
        let groups =
            periods.isEmpty
            ? [rules]
            : periods.map { period in
                rules.filter { $0.periods.isEmpty || $0.periods.contains(period) }
            }
        return groups.allSatisfy(Self.isConsistent)
    }

    private static func isConsistent(_ rules: [Rule]) -> Bool {
        guard Set(rules.map(\.trackType)).count == rules.count else { return false }
        guard let all = rules.first(where: { $0.parts.contains("ALL") }) else { return true }
        return rules.count == 1 && all.parts.count == 1 && all.video.count == 1 && all.audio.count == 1
            && all.video.allSatisfy(\.isBare) && all.audio.allSatisfy(\.isBare)
    }
}

extension EncryptionContract.Rule {
    /// The names in the track type.
    package var parts: [Substring] { trackType.split(separator: "+", omittingEmptySubsequences: false) }
}
