import Foundation
import LatchkeyServer

/// A license server inside a Swift program, until the task is cancelled.
///
/// - Parameter configuration: a `server.json`, such as `latchkey-server demo` leaves behind.
/// - Throws: all errors of the configuration together, each with its place and remedy.
func serveLicenses(configuration: URL, ready: @Sendable (ServerAddresses) -> Void) async throws {
    let server = try await LicenseServer(configuration: configuration)
    ready(server.addresses)
    await server.run()
}
