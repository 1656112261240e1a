import Foundation
import LatchkeyCore
import LatchkeyHTTP
import LatchkeyTesting
import Testing

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// Runs a server while a test runs, and stops it in any case.
func withServer(
    _ configure: (inout HTTPServerConfiguration) -> Void = { _ in },
    time: any Timekeeper = SystemTimekeeper(),
    answering handler: @escaping @Sendable (HTTPRequest) async -> HTTPResponse,
    _ body: (UInt16) async throws -> Void
) async throws {
    var configuration = HTTPServerConfiguration.patient
    configure(&configuration)
    let server = HTTPServer(configuration, time: time, handler: handler)
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
    /// Time limits that no test reaches unless it moves a clock, even if a thousand tests share two cores.
    static var patient: Self {
        var configuration = HTTPServerConfiguration()
        configuration.exchangeDeadline = .seconds(900)
        configuration.idleTimeout = .seconds(900)
        (configuration.headDeadline, configuration.keepAlive) = (.seconds(900), .seconds(900))
        return configuration
    }
}

/// Waits until a condition holds. Ends when the test's time limit cancels it.
func until(_ condition: () -> Bool) async throws {
    while !condition() {
        try Task.checkCancellation()
        await Task.yield()
    }
}

/// A request over URLSession, which keeps connections open as real clients do.
func fetch(_ port: UInt16, _ path: String, _ change: (inout URLRequest) -> Void = { _ in }) async throws -> (
    status: Int, headers: [String: String], body: Data
) {
    var request = URLRequest(url: try #require(URL(string: "http://127.0.0.1:\(port)\(path)")))
    // Foundation on Linux ignores the initializer's value.
    request.timeoutInterval = 900
    change(&request)
    let (data, response) = try await URLSession.shared.data(for: request)
    let http = try #require(response as? HTTPURLResponse)
    let headers = http.allHeaderFields.reduce(into: [:]) { $0["\($1.key)".lowercased()] = "\($1.value)" }
    return (http.statusCode, headers, data)
}
