import LatchkeyCore
import LatchkeyFairPlay
import LatchkeyVault

/// The signaling that packagers write into playlists, manifests and media for one key and one DRM system.
///
/// A value is `nil` if the system has none, as FairPlay has no `pssh` box.
///
/// Source: `Documentation/LicenseServer.md` §2.4.
struct DRMSignaling {
    /// The playlist that a tag belongs to.
    enum Playlist {
        case media
        case multivariant

        /// - Parameter name: `media`, `master` or `multiVariant`; others give `nil`.
        init?(_ name: String) {
            switch name {
            case "media": self = .media
            case "master", "multiVariant": self = .multivariant
            default: return nil
            }
        }
    }

    /// The `pssh` box.
    private(set) var box: [UInt8]?
    /// XML for a `ContentProtection` element of DASH.
    private(set) var contentProtection: String?
    /// The PlayReady Object.
    private(set) var playReadyObject: [UInt8]?
    /// The key's URI in playlists.
    let uri: String
    /// `KEYFORMAT` in playlists.
    let keyFormat: String
    private let method: String

    /// - Returns: `nil` for Clear Key without a template for its URIs.
    init?(
        _ system: DRMSystem, kid: KeyID, key: ContentKey, content: ContentName, scheme: EncryptionScheme,
        settings: SignalingSettings
    ) throws(OpenSSLError) {
        switch system {
        case .fairPlay:
            uri = settings.fairPlay.uri(content: content, kid: kid, iv: key.iv).raw
            keyFormat = "com.apple.streamingkeydelivery"
        case .widevine:
            let header = WidevineHeader(
                kid: kid, provider: settings.widevineProvider, content: content, scheme: scheme)
            let box = PSSHBox(system, data: header.bytes)
            self.box = box.bytes
            contentProtection = box.xml
            uri = "data:text/plain;base64,\(box.bytes.base64)"
            keyFormat = "urn:uuid:\(system.rawValue)"
        case .playReady:
            let object = try PlayReadyObject(
                kid: kid, key: key.key, scheme: scheme, licenseURL: settings.playReadyURL)
            let box = PSSHBox(system, data: object.bytes)
            self.box = box.bytes
            contentProtection = box.xml + object.xml
            playReadyObject = object.bytes
            uri = "data:text/plain;charset=UTF-16;base64,\(object.bytes.base64)"
            keyFormat = "com.microsoft.playready"
        case .clearKey, .clearKeyVersion1:
            guard let template = settings.clearKey else { return nil }
            uri = template.uri(content: content, kid: kid, iv: key.iv).raw
            keyFormat = "identity"
        }
        method =
            switch scheme {
            case .cbcs: "SAMPLE-AES"
            case .cenc, .cens: "SAMPLE-AES-CTR"
            case .cbc1: "AES-128"
            }
    }

    /// The key tag of a playlist, one line.
    func tag(in playlist: Playlist) -> String {
        let name = playlist == .media ? "#EXT-X-KEY:" : "#EXT-X-SESSION-KEY:"
        let format = "KEYFORMAT=\"\(keyFormat)\",KEYFORMATVERSIONS=\"1\""
        let attributes = playReadyObject == nil ? "URI=\"\(uri)\",\(format)" : "\(format),URI=\"\(uri)\""
        return "\(name)METHOD=\(method),\(attributes)"
    }
}
