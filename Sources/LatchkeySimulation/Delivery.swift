public import LatchkeyCore

/// A server response for playlists or media that this reader accepts but AVPlayer may not.
///
/// Source: `Documentation/Media.md` §11.
public struct DeliveryFinding: DiagnosableError, Hashable {
    public let code: String
    public let reason: String
    public let remedy: String
    /// Whether AVPlayer fails according to public reports; other findings are oddities that may pass.
    public let isRefused: Bool

    /// - Parameters:
    ///   - address: the requested address, without its secrets.
    private init(_ code: String, _ address: String, _ reason: String, _ remedy: String, isRefused: Bool = false) {
        (self.code, self.remedy, self.isRefused) = (code, remedy, isRefused)
        self.reason = "\(address) \(reason)"
    }

    static func rangeIgnored(_ address: String) -> Self {
        Self(
            "rangeIgnored", address,
            "was asked for a range and came whole, with status 200. The reader here takes the range out of it; AVPlayer fails with -12642, or with -12939 if the length is missing.",
            "Have the server or proxy honor Range and answer 206, or package one file for each segment.",
            isRefused: true)
    }

    static func rangeWithoutLength(_ address: String) -> Self {
        Self(
            "rangeWithoutLength", address,
            "answered a range with 206 and without Content-Length. AVPlayer is reported to warn with -12174, or to fail with -12939.",
            "Have the server state Content-Length and Content-Range, and not send the range in chunks.")
    }

    static func rangeEncoded(_ address: String, _ coding: String) -> Self {
        Self(
            "rangeEncoded", address,
            "answered a range with Content-Encoding \(coding): a range of compressed bytes is not a range of the media.",
            "Have the server send media unencoded.")
    }

    static func unidentified(_ address: String, _ type: String?) -> Self {
        Self(
            "playlistUnidentified", address,
            "is a playlist by neither its name (.m3u8, .m3u) nor its Content-Type (\(type ?? "none")). The reader here does not mind; a player should refuse it.",
            "Have the server send Content-Type: application/vnd.apple.mpegurl.")
    }

    static func leavesTLS(_ address: String) -> Self {
        Self(
            "redirectToHTTP", address,
            "redirects from https to http. The reader here follows; App Transport Security ends it with -1022.",
            "Have the redirect lead to https.", isRefused: true)
    }

    static func entersTLS(_ address: String) -> Self {
        Self(
            "redirectToHTTPS", address,
            "redirects from http to https. The reader here follows; AVPlayer is reported to drop such a redirect.",
            "Give the app the https address.")
    }
}

/// Collects the findings of `WebResources`, each kind once per host.
public final class DeliveryWatch: Sendable {
    private struct State {
        var seen: Set<String> = []
        var findings: [DeliveryFinding] = []
    }

    private let state = Locked(State())

    /// Creates an empty watch.
    public init() {}

    /// The findings in order.
    public var findings: [DeliveryFinding] { state.withLock { $0.findings } }

    func note(_ finding: DeliveryFinding, from host: String?) {
        state.withLock { state in
            guard state.seen.insert("\(finding.code) \(host ?? "")").inserted else { return }
            state.findings.append(finding)
        }
    }
}
