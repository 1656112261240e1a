public import Foundation

/// A server's reply.
public struct CurlReply: Sendable {
    /// The URL that answered.
    public let url: URL?
    /// The status code, 100 to 999. Redirects are not followed.
    public let status: Int
    /// The header fields by name. Several fields of one name are joined with commas under the first spelling.
    public let headers: [(name: String, value: String)]
    /// The body as it was sent, not decompressed. Never longer than the requested limit.
    public let body: Data
}
