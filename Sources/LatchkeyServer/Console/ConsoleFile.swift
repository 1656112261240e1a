import Foundation
import LatchkeyHTTP

/// The files of the operators' page. They are in the program itself, need no key and hold nothing of the server.
///
/// The page runs its own script only and talks to its own server only; it gets everything from the admin API.
///
/// Source: `Documentation/LicenseServer.md` §9.7.
enum ConsoleFile {
    private static let files: [String: (type: String, bytes: [UInt8])] = [
        "": ("text/html; charset=utf-8", PackageResources.console_html),
        "console.css": ("text/css; charset=utf-8", PackageResources.console_css),
        "console.js": ("text/javascript; charset=utf-8", PackageResources.console_js),
        "accounts.js": ("text/javascript; charset=utf-8", PackageResources.accounts_js),
        "changes.js": ("text/javascript; charset=utf-8", PackageResources.changes_js),
        "figures.js": ("text/javascript; charset=utf-8", PackageResources.figures_js),
        "forms.js": ("text/javascript; charset=utf-8", PackageResources.forms_js),
        "keys.js": ("text/javascript; charset=utf-8", PackageResources.keys_js),
        "overview.js": ("text/javascript; charset=utf-8", PackageResources.overview_js),
        "places.js": ("text/javascript; charset=utf-8", PackageResources.places_js),
        "policies.js": ("text/javascript; charset=utf-8", PackageResources.policies_js),
        "pages.js": ("text/javascript; charset=utf-8", PackageResources.pages_js),
        "reports.js": ("text/javascript; charset=utf-8", PackageResources.reports_js),
        "icon.svg": ("image/svg+xml", PackageResources.icon_svg),
    ]

    static let contentSecurityPolicy = """
        default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self'; base-uri 'none'; \
        form-action 'none'; frame-ancestors 'none'
        """

    /// - Parameter name: the path without its slash; empty for the page.
    static func response(_ name: String) -> HTTPResponse {
        guard let file = files[name] else { return .noSuchPath }
        return HTTPResponse(
            status: 200,
            headers: [
                .contentType: file.type, .cacheControl: "no-cache", "Content-Security-Policy": contentSecurityPolicy,
                "X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer", "X-Frame-Options": "DENY",
                "Cross-Origin-Opener-Policy": "same-origin", "Cross-Origin-Resource-Policy": "same-origin",
            ], body: .bytes(Data(file.bytes)))
    }
}
