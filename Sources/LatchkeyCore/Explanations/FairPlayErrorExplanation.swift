package import Foundation

/// The meaning, cause and remedy of a number that the system, a player, a server or FairPlay reports.
///
/// Apple documents few of them. If a meaning is based only on reports from the field, `isConfirmed` is false.
///
/// Source: `Documentation/FairPlay.md` §14, `Documentation/Players.md` §3.12.
public struct FairPlayErrorExplanation: Sendable, Hashable, Identifiable {
    /// The number, signed.
    public let code: Int
    /// Whose number it is.
    package let domain: Domain
    /// A short name.
    public let name: String
    /// The meaning.
    public let meaning: String
    /// Likely causes, most likely first.
    public let causes: [String]
    /// Remedies to try, in order.
    public let remedies: [String]
    /// Who can fix it.
    package let fixer: Fixer
    /// Whether the meaning is based on more than reports.
    package let isConfirmed: Bool

    public var id: Int { code }

    /// Whose number it is. An app meets these; the tool adds domains that never occur as an `NSError`.
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
        /// The packager or the distributor of the stream.
        case packager
        /// The owner of the FairPlay certificate.
        case certificateOwner
        /// The viewer, with another display or device.
        case viewer
        /// Apple, with a newer system.
        case apple
    }

    /// Reads the numbers of a domain. A row has a number, unless the error has only a name; a name, a meaning, causes, remedies, who can
    /// fix it, and `reported` if the meaning is based only on reports.
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
    /// Every known number of the system, ordered.
    package static let all = (avFoundation.rows + system.rows + urlLoading.rows).sorted { $0.code < $1.code }

    /// The errors of react-native-video.
    package static let reactNativeVideo = reactNative.rows

    /// The unreadable rows of the tables.
    package static let flaws = [avFoundation, system, urlLoading, reactNative].flatMap(\.flaws)

    /// The explanation of a number, signed, or unsigned in 32 bits as browsers show it; `nil` for an unknown one.
    package static func explaining(_ code: Int) -> Self? {
        byCode[code] ?? (code > Int(Int32.max) && code <= Int(UInt32.max) ? byCode[code - (1 << 32)] : nil)
    }

    /// The explanation of the deepest known number in an error's chain that does more than refer to another, or `nil`.
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

    /// The maximum number of errors examined in a chain.
    package static let longestChain = 16

    private static func explaining(domain: String, _ code: Int) -> Self? {
        ([explaining(code)].compactMap(\.self) + reactNativeVideo.filter { $0.code == code })
            .first { $0.domain.names.contains(domain) }
    }

    /// Numbers that only refer to another one.
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
    /// The number, the name, the meaning, and the first remedy.
    public var description: String {
        "\(code) \(name): \(meaning) \(remedies.first ?? "")"
    }
}
