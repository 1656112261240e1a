public import Foundation

/// The encryption of a stream.
public enum JWEncryption: Int {
    case fairPlay = 0
    /// Represents all other numbers, which an Objective-C enum can have. Not in the SDK.
    case standInOther = 1
}

/// Provides the data for a player's keys. It cannot report an error: empty data is a failure.
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
