package import Foundation
package import LatchkeyHTTP

/// Serves the page in this folder: a player for browsers, with keys from a license server.
///
/// The page is compiled in. It reads its streams and the address of its keys from `setup.json`.
package struct WebPlayer: Sendable {
    private let setup: @Sendable () -> Data?

    /// - Parameter setup: creates `setup.json` for one request: `licenseURL`, `sessionsURL`, `streams` with `title` and
    ///   `playlist`, `viewers` with `title` and `token`. `nil` on failure.
    package init(setup: @escaping @Sendable () -> Data?) { self.setup = setup }

    /// Answers a request whose path is relative to the page's folder.
    package func respond(to request: HTTPRequest) -> HTTPResponse {
        guard [.get, .head].contains(request.method) else { return .methodNotAllowed([.get, .head]) }
        var response: HTTPResponse
        switch request.path {
        case "/": response = Self.file("text/html; charset=utf-8", PackageResources.index_html)
        case "/player.js": response = Self.file("text/javascript; charset=utf-8", PackageResources.player_js)
        case "/style.css": response = Self.file("text/css; charset=utf-8", PackageResources.style_css)
        case "/setup.json":
            guard let setup = setup() else { return .text("The setup cannot be made.", status: 500) }
            response = HTTPResponse(contentType: "application/json", bytes: setup)
        default: return .text("There is no such file.", status: 404)
        }
        // Allows only files and requests of this origin, and media that the script assembles.
        response.headers["Content-Security-Policy"] =
            "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; media-src blob:; "
            + "img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
        response.headers["X-Content-Type-Options"] = "nosniff"
        response.headers["Referrer-Policy"] = "no-referrer"
        response.headers[.cacheControl] = "no-store"
        return response
    }

    private static func file(_ type: String, _ bytes: [UInt8]) -> HTTPResponse {
        HTTPResponse(contentType: type, bytes: Data(bytes))
    }
}
