public import Foundation

#if canImport(FoundationNetworking)
    public import FoundationNetworking
#endif

extension URLSession {
    /// The reply to a request, which comes to its end even where nobody waits for it any more.
    ///
    /// `data(for:)` of Foundation on Linux may wait for itself for ever when its task is cancelled while the reply comes: it cancels
    /// with the task's lock held, on the queue that hands the reply over.
    public func reply(to request: URLRequest) async throws -> (Data, URLResponse) {
        try await withCheckedThrowingContinuation { continuation in
            dataTask(with: request) { data, response, error in
                if let data, let response {
                    continuation.resume(returning: (data, response))
                } else {
                    continuation.resume(throwing: error ?? URLError(.unknown))
                }
            }.resume()
        }
    }
}
