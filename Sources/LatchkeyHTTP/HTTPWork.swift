/// A server's work for a request that has arrived.
package enum HTTPWork: Sendable {
    /// None: the reply is ready.
    case reply(HTTPResponse)
    /// A task makes the reply. It always runs, even if the client has gone.
    case task(@Sendable () async -> HTTPResponse)
}
