public import Foundation

/// Whether a key can be stored.
public enum JWContentKeyType: Int {
    case persistable
    case nonpersistable
}

/// Stores keys.
public protocol JWDRMContentKeyManager: AnyObject {
    func contentLoader(
        _ contentLoader: JWDRMContentLoader, writePersistableContentKey contentKey: Data, contentKeyIdentifier: String)
    func contentLoader(
        _ contentLoader: JWDRMContentLoader, didWritePersistableContentKey contentKeyIdentifier: String)
    func contentLoader(
        _ contentLoader: JWDRMContentLoader, deletePersistableContentKey contentKeyIdentifier: String)
    func contentLoader(
        _ contentLoader: JWDRMContentLoader, contentKeyTypeFor contentKeyIdentifier: String
    ) -> JWContentKeyType
    func contentLoader(
        _ contentLoader: JWDRMContentLoader, contentKeyExistsOnDisk contentKeyIdentifier: String
    ) -> Bool
    func contentLoader(
        _ contentLoader: JWDRMContentLoader, urlForPersistableContentKey contentKeyIdentifier: String
    ) -> URL
    func contentLoader(_ contentLoader: JWDRMContentLoader, failedWithError error: JWError)
}
