package import Foundation

/// A server's reply.
package struct CurlReply: Sendable {
    /// The URL that answered.
    package let url: URL?
    /// The status code, 100 to 999. Redirects are not followed.
    package let status: Int
    /// The header fields by name. Several fields of one name are joined with commas under the first spelling.
    package let headers: [(name: String, value: String)]
    /// The body as sent, not decompressed. Never longer than the requested limit.
    package let body: Data
}
