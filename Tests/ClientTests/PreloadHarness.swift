import Foundation
import LatchkeyCore
import LatchkeyTesting
import LatchkeyVendors

@testable import Latchkey

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// A stream on a content network, and the vendor's service behind it.
enum PreloadStream {
    static let address = URL(string: "https://cdn.example.com/master.m3u8?token=s3cr3t-s3cr3t") ?? URL(filePath: "/")
    static let session: KeyURI = "skd://fairplay-license.vudrm.tech/license/session"
    static let audio: KeyURI = "skd://fairplay-license.vudrm.tech/license/audio"
    static let video: KeyURI = "skd://fairplay-license.vudrm.tech/license/video"

    static let master = """
        #EXTM3U
        #EXT-X-SESSION-KEY:METHOD=SAMPLE-AES,URI="\(session)",KEYFORMAT="com.apple.streamingkeydelivery"
        #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a",NAME="a",URI="audio.m3u8"
        #EXT-X-STREAM-INF:BANDWIDTH=1,AUDIO="a"
        video.m3u8

        """

    static func media(_ keys: [KeyURI]) -> String {
        let segments = keys.map { key in
            """
            #EXT-X-KEY:METHOD=SAMPLE-AES,URI="\(key)",KEYFORMAT="com.apple.streamingkeydelivery"
            #EXTINF:2,
            segment.ts
            """
        }
        return "#EXTM3U\n#EXT-X-TARGETDURATION:2\n" + segments.joined(separator: "\n") + "\n"
    }

    /// Replies for playlists by their name, a certificate, and licenses.
    static func transport(
        _ playlists: [String: FakeTransport.Step] = [:],
        license: @escaping @Sendable (URLRequest, Int) async -> FakeTransport.Step = { _, _ in .ckc }
    ) -> FakeTransport {
        let standard: [String: FakeTransport.Step] = [
            "master.m3u8": .ok(master), "audio.m3u8": .ok(media([session, audio])), "video.m3u8": .ok(media([video])),
        ]
        let known = standard.merging(playlists) { $1 }
        return FakeTransport { request, number in
            if request.httpMethod == "POST" { return await license(request, number) }
            return known[request.url?.lastPathComponent ?? ""] ?? .certificate
        }
    }
}

/// A player that makes its requests early.
final class EarlyPlayer: PreloadingPlayer {
    let loader: ContentKeyLoader
    private let isAble: @Sendable (KeyURI) -> Bool
    private let makesRequests: Bool
    private let state = Locked((asked: [KeyURI](), requests: [FakeKeyRequest]()))

    /// - Parameters:
    ///   - loader: answers the requests.
    ///   - makesRequests: whether the player keeps its promise.
    ///   - isAble: whether it takes a key.
    init(
        _ loader: ContentKeyLoader, makesRequests: Bool = true,
        isAble: @escaping @Sendable (KeyURI) -> Bool = { _ in true }
    ) {
        self.loader = loader
        self.makesRequests = makesRequests
        self.isAble = isAble
    }

    /// The requests that it made, in order.
    var requests: [FakeKeyRequest] { state.withLock { $0.requests } }

    /// The keys that it was asked to request, in order.
    var asked: [KeyURI] { state.withLock { $0.asked } }

    func preload(_ key: KeyURI, as asset: AssetID?, of stream: URL?) -> Bool {
        state.withLock { $0.asked.append(key) }
        guard isAble(key) else { return false }
        guard makesRequests else { return true }
        let request = FakeKeyRequest(key, asset: asset)
        state.withLock { $0.requests.append(request) }
        loader.answer(request)
        return true
    }
}

extension PreloadResult.Outcome {
    /// The outcome as a word: `prepared`, the reason, or the error's code.
    var word: String {
        switch kind {
        case .prepared: "prepared"
        case .skipped(let reason): reason.rawValue
        case .failed(let error): error.code
        }
    }
}

extension PreloadResult {
    /// The outcomes of the first key's parts: certificate, lookup, connection, credentials, license.
    var first: [String] { Part.allCases.map { part in keys.first?[part].word ?? "" } }

    /// The outcome of a part, key by key.
    func words(_ part: Part) -> [String] { keys.map { $0[part].word } }
}
