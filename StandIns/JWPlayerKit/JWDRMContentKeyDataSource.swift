public import Foundation

/// Gives a player what its keys need. Every handler is called exactly once, with nil on failure.
public protocol JWDRMContentKeyDataSource: AnyObject {
    func contentIdentifierForURL(_ url: URL, completionHandler handler: @escaping (Data?) -> Void)
    func appIdentifierForURL(_ url: URL, completionHandler handler: @escaping (Data?) -> Void)
    func contentKeyWithSPCData(
        _ spcData: Data, completionHandler handler: @escaping (Data?, Date?, String?) -> Void)
}
