import Foundation
import Latchkey
import LatchkeyCore
import LatchkeyHLS
@_spi(Integrations) import LatchkeyVendors

/// A loader's memory for a support bundle: its latest events, exchanges and keys. It never receives a secret of the app, so it keeps none
/// in memory. Events are as the app's observer gets them; the service's words in them are replaced when a bundle is made.
final class SupportRecord: LoaderRecord {
    /// The number of each kind that is kept.
    private static let (eventLimit, exchangeLimit, keyLimit, playlistLimit) = (500, 64, 64, 32)

    private struct State {
        var events = BoundedQueue<KeyEvent>(limit: eventLimit)
        var exchanges = BoundedQueue<RecordedExchange>(limit: exchangeLimit)
        var keys = BoundedQueue<SupportManifest.Key>(limit: keyLimit)
        var playlists = BoundedQueue<SupportPlaylist>(limit: playlistLimit)
        var credentials: [String: String]?
    }

    let sanitizer: Sanitizer
    private let state = Locked(State())
    /// Hides secrets in exchanges, which takes milliseconds, while the key's work continues.
    private let hiding = DispatchQueue(label: "latchkey.support", qos: .utility)

    init(_ integration: any VendorIntegration, seed: UInt64) { sanitizer = Sanitizer(integration, seed: seed) }

    func note(_ event: KeyEvent) { state.withLock { _ = $0.events.append(event) } }

    /// - Parameter secrets: the secrets sent, which must not be shown in any form.
    func note(_ exchange: RecordedExchange, hiding secrets: [Secret]) {
        hiding.async { [self] in
            let shown = sanitizer.exchange(exchange, hiding: SecretForms(secrets))
            state.withLock { _ = $0.exchanges.append(shown) }
        }
    }

    func note(_ credentials: CredentialSet) {
        let shown = credentials.values.mapValues { $0.count == 0 ? "" : sanitizer.credential($0.revealedText) }
        state.withLock { $0.credentials = shown }
    }

    /// - Parameter number: the number of the key request; 0 if a player performs the steps itself.
    func note(_ key: KeyURI, _ purpose: KeyPurpose, of number: Int) {
        let key = SupportManifest.Key(
            number: number, uri: sanitizer.pseudonyms.url(key.raw.onOneLine), purpose: purpose)
        state.withLock { state in
            let isKnown = state.keys.elements.contains {
                ($0.number, $0.uri, $0.purpose) == (key.number, key.uri, purpose)
            }
            if !isKnown { state.keys.append(key) }
        }
    }

    /// - Parameter count: the bytes of the SPC that the player made for a key.
    func noteSPC(_ count: Int, of number: Int) {
        state.withLock { state in
            var keys = BoundedQueue<SupportManifest.Key>(limit: Self.keyLimit)
            for var key in state.keys.elements {
                if key.number == number { key.spcBytes = count }
                keys.append(key)
            }
            state.keys = keys
        }
    }

    /// The key lines of a playlist.
    func note(playlist: Data, at address: String) {
        let playlist = SupportPlaylist(playlist, at: address, sanitizer.pseudonyms)
        state.withLock { _ = $0.playlists.append(playlist) }
    }

    /// The current contents. Waits for exchanges whose secrets are being hidden.
    var contents: SupportContents {
        hiding.sync {}
        return state.withLock { state in
            SupportContents(
                events: state.events.elements, exchanges: state.exchanges.elements, keys: state.keys.elements,
                playlists: state.playlists.elements, credentials: state.credentials)
        }
    }
}

/// A snapshot of a record.
struct SupportContents: Sendable {
    var events: [KeyEvent]
    let exchanges: [RecordedExchange]
    let keys: [SupportManifest.Key]
    var playlists: [SupportPlaylist]
    let credentials: [String: String]?
}

/// A playlist's lines about keys, its addresses without secrets.
struct SupportPlaylist: Sendable {
    /// Comments and tags, as a playlist has them.
    let text: String

    init(_ bytes: Data, at address: String, _ pseudonyms: Pseudonyms) {
        var lines = ["#EXTM3U", "## \(pseudonyms.url(address.onOneLine)), \(bytes.count) bytes, its key lines alone"]
        do {
            let playlist = try Playlist(bytes, context: PlaylistContext())
            lines += playlist.sessionKeyTags.map { Self.line("#EXT-X-SESSION-KEY", $0, pseudonyms) }
            lines += playlist.keyTags.map { Self.line("#EXT-X-KEY", $0, pseudonyms) }
            if let hint = playlist.hintedKey { lines.append(Self.line(hint, pseudonyms)) }
        } catch {
            lines.append("## refused: \(pseudonyms.words("\(error)".onOneLine))")
        }
        text = lines.prefix(2_000).joined(separator: "\n") + "\n"
    }

    private static func line(_ name: String, _ tag: KeyTag, _ pseudonyms: Pseudonyms) -> String {
        var attributes = ["METHOD=\(pseudonyms.words(tag.method.text))"]
        if let uri = tag.uri { attributes.append("URI=\"\(pseudonyms.url(uri.raw))\"") }
        if let iv = tag.iv { attributes.append("IV=\(iv)") }
        if tag.statesFormat { attributes.append("KEYFORMAT=\"\(tag.format.text)\"") }
        if tag.statesFormatVersions { attributes.append("KEYFORMATVERSIONS=\"\(tag.formatVersions)\"") }
        attributes += tag.otherAttributes.map { "\($0.name)=\"\(pseudonyms.words($0.value))\"" }
        return "\(name):\(attributes.joined(separator: ","))  ## line \(tag.line)".onOneLine
    }

    private static func line(_ hint: KeyHint, _ pseudonyms: Pseudonyms) -> String {
        var attributes = [
            "TYPE=KEY", "URI=\"\(pseudonyms.url(hint.uri.raw))\"",
            "KEYFORMAT=\"\(pseudonyms.words(hint.format.text))\"",
        ]
        if let date = hint.firstUse { attributes.append("DATE-OF-FIRST-USE=\"\(date.formatted(.iso8601))\"") }
        return "#EXT-X-PRELOAD-HINT:\(attributes.joined(separator: ","))  ## line \(hint.line)".onOneLine
    }
}
