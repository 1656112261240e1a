import Foundation
import FoundationNetworking
import LatchkeyHTTP
import LatchkeyTesting
import Testing

/// Runs a server for the length of a test and stops it, whatever happens.
func withServer(
    _ configure: (inout HTTPServerConfiguration) -> Void = { _ in },
    clock: HTTPServerClock = .system,
    answering handler: @escaping @Sendable (HTTPRequest) async -> HTTPResponse,
    _ body: (UInt16) async throws -> Void
) async throws {
    var configuration = HTTPServerConfiguration.patient
    configure(&configuration)
    let server = HTTPServer(configuration, clock: clock, handler: handler)
    let port = try server.start()
    do {
        try await body(port)
    } catch {
        await server.stop(within: .zero)
        throw error
    }
    await server.stop(within: .zero)
}

extension HTTPServerConfiguration {
    /// Limits of time that no test reaches unless it moves a clock, even where a thousand tests share two cores.
    static var patient: Self {
        var configuration = HTTPServerConfiguration()
        configuration.exchangeDeadline = .seconds(900)
        configuration.idleTimeout = .seconds(900)
        return configuration
    }
}

extension HTTPServerClock {
    /// A clock that a test moves.
    static func manual(_ time: ManualTimekeeper) -> HTTPServerClock {
        HTTPServerClock(now: { time.uptime }, sleep: { try await time.sleep(for: $0) })
    }
}

/// A request over URLSession, which keeps connections open as real clients do.
func fetch(_ port: UInt16, _ path: String, _ change: (inout URLRequest) -> Void = { _ in }) async throws -> (
    status: Int, headers: [String: String], body: Data
) {
    var request = URLRequest(url: try #require(URL(string: "http://127.0.0.1:\(port)\(path)")), timeoutInterval: 900)
    change(&request)
    let (data, response) = try await URLSession.shared.data(for: request)
    let http = try #require(response as? HTTPURLResponse)
    let headers = http.allHeaderFields.reduce(into: [:]) { $0["\($1.key)".lowercased()] = "\($1.value)" }
    return (http.statusCode, headers, data)
}
