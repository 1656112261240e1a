public import Foundation

/// Provides the data for a player's keys. Each handler must be called exactly once, with `nil` on failure.
public protocol JWDRMContentKeyDataSource: AnyObject {
    func contentIdentifierForURL(_ url: URL, completionHandler handler: @escaping (Data?) -> Void)
    func appIdentifierForURL(_ url: URL, completionHandler handler: @escaping (Data?) -> Void)
    func contentKeyWithSPCData(
        _ spcData: Data, completionHandler handler: @escaping (Data?, Date?, String?) -> Void)
}
