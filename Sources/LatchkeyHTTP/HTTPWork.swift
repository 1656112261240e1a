/// What a server does for a request that has arrived.
package enum HTTPWork: Sendable {
    /// Nothing: the reply is there.
    case reply(HTTPResponse)
    /// A task makes the reply. It always runs, even if nobody waits for the reply any more.
    case task(@Sendable () async -> HTTPResponse)
}
