package import Foundation
package import LatchkeyCore
package import LatchkeyVendors

/// Receives a recorded loader's activity. Each call returns immediately, and comes from any thread.
package protocol LoaderRecord: Sendable {
    /// Takes an event in the form that the app's observer gets.
    func note(_ event: KeyEvent)

    /// Takes a request and its result.
    /// - Parameter secrets: the secrets sent, which must not be shown in any form.
    func note(_ exchange: RecordedExchange, hiding secrets: [Secret])

    /// Takes the credentials that the app's closure gave.
    func note(_ credentials: CredentialSet)

    /// Takes a key that is requested.
    /// - Parameter number: the number of the key request; 0 if a player performs the steps itself.
    func note(_ key: KeyURI, _ purpose: KeyPurpose, of number: Int)

    /// Takes the length of the SPC that the player made for a key, in bytes.
    func noteSPC(_ count: Int, of number: Int)

    /// Takes a playlist.
    func note(playlist: Data, at address: String)
}
