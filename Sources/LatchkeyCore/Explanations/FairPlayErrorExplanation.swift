package import Foundation

/// What a number means that the system, a player, a server or FairPlay reports, what caused it, and what to do.
///
/// Apple documents few of them. Where a meaning rests on reports from the field alone, `isConfirmed` is false.
///
/// Source: `Documentation/FairPlay.md` §14, `Documentation/Players.md` §3.12.
public struct FairPlayErrorExplanation: Sendable, Hashable, Identifiable {
    /// The number, signed; 0 for an error of a player that has a name and no number.
    public let code: Int
    /// Whose number it is.
    package let domain: Domain
    /// A short name.
    public let name: String
    /// What happened.
    public let meaning: String
    /// Likely causes, the likeliest first.
    public let causes: [String]
    /// What to try, in order.
    public let remedies: [String]
    /// Who can fix it.
    package let fixer: Fixer
    /// Whether the meaning rests on more than reports.
    package let isConfirmed: Bool

    public var id: Int { code }

    /// Whose number it is.
    package enum Domain: String, Sendable, Hashable, Codable, CaseIterable {
        /// `AVFoundationErrorDomain`.
        case avFoundation
        /// FairPlay and CoreMedia: `NSOSStatusErrorDomain` or `CoreMediaErrorDomain`.
        case system
        /// `NSURLErrorDomain`.
        case url
        /// The status of an HTTP reply.
        case http
        /// The version that a key server read out of what was no SPC.
        case keyServer
        /// The error codes of THEOplayer.
        case theoPlayer
        /// The error codes of JW Player.
        case jwPlayer
        /// The error codes of Shaka Player.
        case shakaPlayer
        /// The error codes of NAGRA's OpenTV Player.
        case openTV
        /// The error codes of the Bitmovin Player for Apple's systems.
        case bitmovin
        /// The error codes of the Bitmovin Player for browsers.
        case bitmovinWeb
        /// The errors of react-native-video: `RCTVideo`.
        case reactNativeVideo
        /// The error codes of Mux Player and Mux's elements.
        case muxPlayer
        /// The codes of a browser's `MediaError`, which video.js shows.
        case mediaElement
        /// The errors of hls.js, which have names alone.
        case hlsJS
        /// The errors of videojs-contrib-eme, which have names alone.
        case contribEME
    }

    /// Who can fix an error.
    package enum Fixer: String, Sendable, Hashable, Codable, CaseIterable {
        /// The app's code.
        case app
        /// The license service.
        case service
        /// Who packages and delivers the stream.
        case packager
        /// Who holds the FairPlay certificate.
        case certificateOwner
        /// The viewer, with another display or device.
        case viewer
        /// Apple, by a newer system.
        case apple
    }

    init(
        _ code: Int, _ name: String, _ meaning: String, causes: [String], try remedies: [String], fixer: Fixer,
        isConfirmed: Bool = true, domain: Domain = .system
    ) {
        self.code = code
        self.domain = domain
        self.name = name
        self.meaning = meaning
        self.causes = causes
        self.remedies = remedies
        self.fixer = fixer
        self.isConfirmed = isConfirmed
    }
}

extension FairPlayErrorExplanation {
    /// Every number of the system that is known, ordered.
    package static let all = (avFoundation + fairPlay + media + urlLoading).sorted { $0.code < $1.code }

    /// Every number of players, key servers and HTTP that is known, ordered. Two players may use the same number.
    package static let elsewhere = (http + keyServer + players).sorted { $0.code < $1.code }

    /// Every explanation of a number, the system's first.
    /// - Parameter code: signed, or unsigned in 32 bits.
    package static func explanations(of code: Int) -> [Self] {
        [explaining(code)].compactMap { $0 } + (code == 0 ? [] : elsewhere.filter { $0.code == code })
    }

    /// The explanation of a number, signed, or unsigned in 32 bits as browsers show it; `nil` for an unknown one.
    package static func explaining(_ code: Int) -> Self? {
        byCode[code] ?? (code > Int(Int32.max) && code <= Int(UInt32.max) ? byCode[code - (1 << 32)] : nil)
    }

    /// The explanation of the deepest number in an error's chain that is known, and says more than that there is another;
    /// `nil` if none is.
    public static func explaining(_ error: any Error) -> Self? {
        let known = chain(of: error).compactMap { explaining(domain: $0.domain, $0.code) }
        return known.last { !pointers.contains($0.code) } ?? known.last
    }

    /// An error and those below it, from the outside in, at most `longestChain`.
    package static func chain(of error: any Error) -> [NSError] {
        var chain: [NSError] = []
        var next: [NSError] = [error as NSError]
        while let error = next.first, chain.count < longestChain {
            next.removeFirst()
            chain.append(error)
            if let below = error.userInfo[NSUnderlyingErrorKey] as? any Error { next.append(below as NSError) }
            // The constant is newer than some of the systems.
            let several = error.userInfo["NSMultipleUnderlyingErrorsKey"] as? [any Error] ?? []
            next += several.map { $0 as NSError }
        }
        return chain
    }

    /// How many errors of a chain are looked at.
    package static let longestChain = 16

    private static func explaining(domain: String, _ code: Int) -> Self? {
        explanations(of: code).first { $0.domain.names.contains(domain) }
    }

    /// Numbers that only say that there is another one.
    private static let pointers: Set = [-11800, -11850, -15622, -15628]

    private static let byCode = Dictionary(all.map { ($0.code, $0) }) { first, _ in first }
}

extension FairPlayErrorExplanation.Domain {
    /// The names of the domains of `NSError`.
    package var names: Set<String> {
        switch self {
        case .avFoundation: ["AVFoundationErrorDomain"]
        case .system: ["NSOSStatusErrorDomain", "CoreMediaErrorDomain"]
        case .url: [NSURLErrorDomain]
        case .reactNativeVideo: ["RCTVideo"]
        case .http, .keyServer, .theoPlayer, .jwPlayer, .shakaPlayer, .openTV, .bitmovin, .bitmovinWeb, .muxPlayer,
            .mediaElement, .hlsJS, .contribEME:
            []
        }
    }
}

extension FairPlayErrorExplanation: CustomStringConvertible {
    /// The number if it has one, the name, the meaning, and what to try first.
    public var description: String {
        "\(code == 0 ? "" : "\(code) ")\(name): \(meaning) \(remedies.first ?? "")"
    }
}
