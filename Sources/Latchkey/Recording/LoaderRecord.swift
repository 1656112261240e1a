package import Foundation
package import LatchkeyCore
package import LatchkeyVendors

#if canImport(FoundationNetworking)
    package import FoundationNetworking
#endif

/// What a loader tells of itself where it is recorded. Each call returns at once, and comes from any thread.
package protocol LoaderRecord: Sendable {
    /// Takes an event as the app's observer gets it.
    func note(_ event: KeyEvent)

    /// Takes a request and what came of it.
    /// - Parameter secrets: what was sent, and must not be shown in any form.
    func note(_ exchange: RecordedExchange, hiding secrets: [Secret])

    /// Takes what the app's closure gave.
    func note(_ credentials: CredentialSet)

    /// Takes a key that is asked for.
    /// - Parameter number: the number of the key request; 0 where a player takes the steps by itself.
    func note(_ key: KeyURI, _ purpose: KeyPurpose, of number: Int)

    /// Takes the length of the SPC that the player made for a key, in bytes.
    func noteSPC(_ count: Int, of number: Int)

    /// Takes a playlist.
    func note(playlist: Data, at address: String)
}

/// One request, and what came of it. It holds secrets.
package struct RecordedExchange: Sendable {
    /// The number of the key request; 0 for none.
    package let number: Int
    package let stage: ContentKeyError.Stage
    package let request: URLRequest
    package let outcome: Outcome
    package let date: Date
    package let milliseconds: Double

    package init(
        _ stage: ContentKeyError.Stage, of number: Int, _ request: URLRequest, _ outcome: Outcome,
        at date: Date, took length: Duration
    ) {
        (self.stage, self.number, self.request, self.outcome) = (stage, number, request, outcome)
        (self.date, milliseconds) = (date, (length.inMilliseconds * 1_000).rounded() / 1_000)
    }

    /// A reply, or the code of why none came.
    package enum Outcome: Sendable {
        case reply(HTTPReply)
        case noReply(code: String)
    }
}
