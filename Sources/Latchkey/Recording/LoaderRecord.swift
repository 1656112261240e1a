package import Foundation
package import LatchkeyCore
package import LatchkeyVendors

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
