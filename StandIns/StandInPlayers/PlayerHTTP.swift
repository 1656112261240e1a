public import Foundation
import StandInEngine

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// The HTTP of players that load certificates and licenses themselves.
public enum PlayerHTTP {
    /// A reply, whatever its status.
    public struct Reply: Sendable {
        /// The final URL.
        public let url: String
        /// The HTTP status.
        public let status: Int
        /// The header fields.
        public let headers: [String: String]
        /// The body.
        public let body: Data
        /// Whether the status is a success.
        public var isSuccess: Bool { (200..<300).contains(status) }
    }

    /// Sends a request.
    /// - Parameters:
    ///   - url: an http or https URL.
    ///   - headers: the header fields.
    ///   - body: the body; `nil` for none.
    /// - Throws: an `NSError` in `NSURLErrorDomain`: -1002 for other schemes.
    public static func send(
        _ method: String, _ url: String, headers: [String: String] = [:], body: Data? = nil
    ) async throws -> Reply {
        guard let address = URL(string: url), ["http", "https"].contains(address.scheme?.lowercased()) else {
            throw NSError(
                domain: NSURLErrorDomain, code: NSURLErrorUnsupportedURL,
                userInfo: [NSLocalizedDescriptionKey: "unsupported URL"])
        }
        var request = URLRequest(url: address, timeoutInterval: 30)
        request.httpMethod = method
        request.httpBody = body
        for (name, value) in headers { request.setValue(value, forHTTPHeaderField: name) }
        let reply = try await StandInNetwork.reply(to: request, limit: bodyLimit)
        return Reply(
            url: reply.url, status: reply.status,
            headers: Dictionary(reply.headers.map { ($0.name, $0.value) }, uniquingKeysWith: { first, _ in first }),
            body: reply.body)
    }

    /// The maximum size of a certificate or license in bytes.
    private static let bodyLimit = 16 << 20
}
