import Foundation
import LatchkeyServer

/// A license server inside a Swift program, until the task is cancelled.
///
/// - Parameter configuration: a `server.json`, such as `latchkey-server demo` leaves behind.
/// - Throws: all faults of the configuration at once, each with its place and what to do.
func serveLicenses(configuration: URL, ready: @Sendable (ServerAddresses) -> Void) async throws {
    let server = try await LicenseServer(configuration: configuration)
    ready(server.addresses)
    await server.run()
}
