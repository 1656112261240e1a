import Foundation
import LatchkeyHTTP

/// The pages that a browser shows during a sign-in, without a script.
enum SignOnPage {
    /// Sends the browser on; no cache keeps the reply, and the target does not learn where it came from.
    static func redirect(to address: String) -> HTTPResponse {
        HTTPResponse(status: 303, headers: headers.with(.location, address))
    }

    /// Says why a sign-in was refused.
    static func refused(_ refusal: SignOnRefusal) -> HTTPResponse {
        let page = """
            <!doctype html>
            <html lang="en">
            <head>
            <meta charset="utf-8">
            <meta name="viewport" content="width=device-width, initial-scale=1">
            <meta name="color-scheme" content="light dark">
            <title>Not signed in – Latchkey console</title>
            <link rel="icon" href="/icon.svg" type="image/svg+xml">
            <link rel="stylesheet" href="/console.css">
            </head>
            <body>
            <header><p class="brand">Latchkey</p></header>
            <main id="main"><h1>Not signed in</h1>
            <p>\(escaped(refusal.reason))</p><p>\(escaped(refusal.remedy))</p>
            <p><code>\(escaped(refusal.code))</code></p>
            <p><a href="/">To the console</a></p></main>
            </body>
            </html>
            """
        return HTTPResponse(
            status: refusal.status, headers: headers.with(.contentType, "text/html; charset=utf-8"),
            body: .bytes(Data(page.utf8)))
    }

    private static let headers: HTTPHeaders = [
        .cacheControl: "no-store", "Content-Security-Policy": ConsoleFile.contentSecurityPolicy,
        "X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer", "X-Frame-Options": "DENY",
    ]

    private static func escaped(_ text: String) -> String {
        text.onOneLine.replacing("&", with: "&amp;").replacing("<", with: "&lt;").replacing(">", with: "&gt;")
            .replacing("\"", with: "&quot;")
    }
}

extension HTTPHeaders {
    fileprivate func with(_ name: HTTPHeaderName, _ value: String) -> HTTPHeaders {
        var headers = self
        headers[name] = value
        return headers
    }
}
