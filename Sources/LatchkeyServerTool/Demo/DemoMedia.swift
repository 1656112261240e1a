import Foundation
import LatchkeyCore
import LatchkeyHTTP
import LatchkeyMedia
import LatchkeyVault
import LatchkeyWebPlayer

/// A demonstration's content besides licenses: the demo streams below `/media`, and a page that plays them in a browser at `/player/`.
struct DemoMedia: Sendable {
    private static let content = "demo"
    private static let mediaPath = "/media"
    private static let playerPath = "/player"

    private let keys: ContentKeyStore
    private let media: MediaHost
    private let rewriting: PlaylistKeyRewriting
    private let player: WebPlayer

    /// - Parameter folder: the demonstration's folder, whose key signs the tokens of the page's viewers.
    /// - Throws: `demoAssetMissing` if the streams are not next to the program, and errors of their keys' file.
    init(_ folder: URL) throws {
        let place = try DemoAsset.located()
        let keys = try DemoAsset.keys()
        self.keys = keys
        media = MediaHost(folder: place)
        // A URI that names nothing but the key ID is read by every profile, whatever part of it the player puts into its request.
        rewriting = PlaylistKeyRewriting { uri in
            guard case .one(let key) = keys.key(named: uri.raw) else { return nil }
            return "skd://\(key.id)"
        }
        player = WebPlayer { try? JSONEncoder().encode(PlayerSetup(folder, at: Date())) }
    }

    /// Where the first stream is, below a server's address.
    static let stream = "\(mediaPath)/\(DemoAsset.twoKeys.rawValue)/master.m3u8"
    /// Where the page is, below a server's address.
    static let page = "\(playerPath)/"

    /// Answers requests for media and for the page; `nil` for all others.
    func answer(_ request: HTTPRequest) -> HTTPResponse? {
        if let request = request.below(Self.mediaPath) {
            var response = media.respond(to: request, rewriting: rewriting)
            response.headers["Access-Control-Allow-Origin"] = "*"
            return response
        }
        if request.path == Self.playerPath { return HTTPResponse(status: 308, headers: ["Location": Self.page]) }
        return request.below(Self.playerPath).map(player.respond)
    }

    /// Adds the keys of the streams to a tenant's.
    /// - Throws: errors of the vault; `demoDamaged` if it has other keys under these identifiers.
    func addKeys(to vault: TenantVault) async throws {
        guard let content = ContentName(Self.content) else { return }
        // One key has several URIs.
        let byID = Dictionary(keys.keys.map { ($0.id, $0.content) }) { first, _ in first }
        let additions = byID.map { id, key in
            (demand: KeyDemand(KeyAddress(content: content, kid: id), scheme: .cbcs), key: key)
        }
        let conflicts = try await vault.add(additions)
        guard conflicts.isEmpty else {
            throw Diagnosis(
                code: "demoDamaged", reason: "The demo's database has other keys for the demo streams.",
                remedy: "Remove the demo's folder; the demo will recreate it.")
        }
    }
}

/// The page's setup: `setup.json` of `Examples/Web`.
private struct PlayerSetup: Encodable {
    struct Stream: Encodable {
        let title, playlist: String
    }

    struct Viewer: Encodable {
        let title, token: String
    }

    var licenseURL = "../t/demo/clearkey"
    var sessionsURL = "../t/demo/sessions"
    var streams = [
        Stream(title: "Video and audio, one key each", playlist: "../media/two-keys/master.m3u8"),
        Stream(title: "Video, with a new key from second 4", playlist: "../media/rotation/master.m3u8"),
    ]
    let viewers: [Viewer]

    /// - Throws: the errors of `DemoFolder.token(in:for:at:)`.
    init(_ folder: URL, at date: Date) throws {
        viewers = try [
            ("Play as an allowed viewer", "viewer-1", date),
            ("Play as a blocked viewer", DemoFolder.blockedViewer, date),
            ("Play with yesterday's token", "viewer-1", date - 86_400),
        ].map { title, viewer, date in
            Viewer(title: title, token: try DemoFolder.token(in: folder, for: viewer, at: date).revealedText)
        }
    }
}
