public import Foundation

/// A way in which a stream is encrypted.
public enum JWEncryption: Int, Sendable {
    case fairPlay = 0
}

/// Gives a player what its keys need. There is no way to report an error: empty data is a failure.
public protocol JWDrmDataSource: NSObjectProtocol {
    func fetchContentIdentifier(
        forRequest loadingRequestURL: URL, for encryption: JWEncryption,
        withCompletion completion: @escaping (Data) -> Void)
    func fetchAppIdentifier(
        forRequest loadingRequestURL: URL, for encryption: JWEncryption,
        withCompletion completion: @escaping (Data) -> Void)
    func fetchContentKey(
        withRequest requestBytes: Data, for encryption: JWEncryption,
        withCompletion completion: @escaping (Data, Date?, String?) -> Void)
}
