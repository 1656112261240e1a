import LatchkeyCore
import LatchkeyServer

extension ContentKeyStore {
    /// What a content identifier names a key by, where the vendor leaves open which part of the key URI it is.
    ///
    /// The whole, what stands behind the scheme, the last path component, the host: the first of them that names a key;
    /// where none does, the whole, for the refusal to show.
    func name(in identifier: ContentIdentifier) -> String {
        let uri = KeyURI(identifier.description)
        let candidates = [uri.raw, uri.remainderBeforeQuery, uri.pathComponents.last ?? uri.host, uri.host]
        return candidates.first(where: hasKey) ?? uri.raw
    }

    /// Whether a name is that of one key.
    func hasKey(named name: String) -> Bool {
        if case .one = key(named: name) { true } else { false }
    }
}
