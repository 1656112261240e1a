package import Foundation

/// What a number means that the system, a player, a server or FairPlay reports, what caused it, and what to do.
///
/// Apple documents few of them. Where a meaning rests on reports from the field alone, `isConfirmed` is false.
///
/// Source: `Documentation/FairPlay.md` §14, `Documentation/Players.md` §3.12.
public struct FairPlayErrorExplanation: Sendable, Hashable, Identifiable {
    /// The number, signed.
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

    /// Whose number it is. An app meets these; the tool adds those that never come as an `NSError`.
    package struct Domain: RawRepresentable, Sendable, Hashable {
        package let rawValue: String

        package init(rawValue: String) { self.rawValue = rawValue }

        /// `AVFoundationErrorDomain`.
        package static let avFoundation = Self(rawValue: "avFoundation")
        /// FairPlay and CoreMedia: `NSOSStatusErrorDomain` or `CoreMediaErrorDomain`.
        package static let system = Self(rawValue: "system")
        /// `NSURLErrorDomain`.
        package static let url = Self(rawValue: "url")
        /// The errors of react-native-video: `RCTVideo`.
        package static let reactNativeVideo = Self(rawValue: "reactNativeVideo")
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

    /// Reads the numbers of a domain. A row has a number, unless the error has a name alone; a name, a meaning, causes, remedies, who can
    /// fix it, and `reported` where no more than reports say so.
    package static func table(_ domain: Domain, _ text: String) -> EmbeddedTable<Self> {
        EmbeddedTable(text, columns: 6...7) { row throws(TableFlaw) in
            Self(
                code: try row.valueIfAny(0) { Int($0) } ?? 0, domain: domain, name: try row.text(1),
                meaning: try row.text(2), causes: try row.texts(3), remedies: try row.texts(4),
                fixer: try row.value(5) { Fixer(rawValue: $0) },
                isConfirmed: try row.valueIfAny(6) { $0 == "reported" ? false : nil } ?? true)
        }
    }
}

extension FairPlayErrorExplanation {
    /// Every number of the system that is known, ordered.
    package static let all = (avFoundation.rows + system.rows + urlLoading.rows).sorted { $0.code < $1.code }

    /// The errors of react-native-video.
    package static let reactNativeVideo = reactNative.rows

    /// What cannot be read of the tables.
    package static let flaws = [avFoundation, system, urlLoading, reactNative].flatMap(\.flaws)

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
        ([explaining(code)].compactMap(\.self) + reactNativeVideo.filter { $0.code == code })
            .first { $0.domain.names.contains(domain) }
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
        default: []
        }
    }
}

extension FairPlayErrorExplanation: CustomStringConvertible {
    /// The number, the name, the meaning, and what to try first.
    public var description: String {
        "\(code) \(name): \(meaning) \(remedies.first ?? "")"
    }
}
