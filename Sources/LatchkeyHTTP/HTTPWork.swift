/// A server's work for a request that has arrived.
package enum HTTPWork: Sendable {
    /// Nothing: the reply is there.
    case reply(HTTPResponse)
    /// A task makes the reply. It always runs, even if the client has gone.
    case task(@Sendable () async -> HTTPResponse)
}
