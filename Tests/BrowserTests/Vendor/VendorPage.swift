import Foundation
import LatchkeyHTTP
@_spi(Integrations) import LatchkeyVendors

@testable import LatchkeyCore

/// The scripts of `Examples/Web/Vendor` in a page of Chromium.
struct VendorPage {
    private let page: ChromiumPage

    /// Runs a test with the page.
    static func with(_ body: (VendorPage) async throws -> Void) async throws {
        let server = HTTPServer { request in response(request.path) }
        let port = try server.start()
        let page = try await Chromium().open("http://127.0.0.1:\(port)/")
        let result: Result<Void, any Error>
        do {
            try await page.wait(until: "window.vendor")
            result = .success(try await body(VendorPage(page: page)))
        } catch { result = .failure(error) }
        await page.close()
        await server.stop(within: .zero)
        try result.get()
    }

    private static func response(_ path: String) -> HTTPResponse {
        guard path != "/" else {
            return HTTPResponse(contentType: "text/html; charset=utf-8", bytes: Data(html.utf8))
        }
        let folder = URL(filePath: #filePath).deletingLastPathComponent().appending(
            path: "../../../Examples/Web/Vendor")
        guard let file = try? Data(contentsOf: folder.appending(path: String(path.dropFirst()))) else {
            return .text("none", status: 404)
        }
        return HTTPResponse(contentType: "text/javascript", bytes: file)
    }

    /// All requests of an exchange as text, by their names.
    func requests(_ exchanges: [VendorExchange]) async throws -> [[String: String]] {
        let given = JSON.array(try exchanges.map { try $0.json })
        return try await lists("requests(\(Self.text(given)))").map { $0.members?.compactMapValues(\.text) ?? [:] }
    }

    /// What Chromium changes of the requests that it is given.
    func changes(_ exchange: VendorExchange) async throws -> [String] {
        try await lists("changes(\(Self.text(try exchange.json)))").compactMap(\.text)
    }

    /// What replies hold: `license` or `certificate`.
    func replies(_ what: String, _ replies: [HTTPReply], _ exchange: VendorExchange) async throws -> [String] {
        let given = JSON.array(
            replies.map { reply in
                .object([
                    "status": .number(Double(reply.status)), "body": .text(reply.body.base64EncodedString()),
                    "headers": .array(reply.headers.map { .array([.text($0.name), .text($0.value)]) }),
                ])
            })
        let call = "replies('\(what)', \(Self.text(try exchange.json)), \(Self.text(given)))"
        return try await lists(call).compactMap(\.text)
    }

    private func lists(_ call: String) async throws -> [JSON] {
        guard case .array(let values) = try await page.value(call) else { return [] }
        return values
    }

    private static func text(_ json: JSON) -> String { String(decoding: json.bytes, as: UTF8.self) }

    private static let html = """
        <!doctype html><script type="module">
        import { Vendor, VendorError } from "/vendor.js";
        window.vendor = Vendor;
        </script><script>
        const hex = bytes => Array.from(bytes, byte => byte.toString(16).padStart(2, "0")).join("");
        const words = body => {
          if (typeof body === "string") return body;
          try { return new TextDecoder("utf-8", { fatal: true }).decode(body); } catch { return hex(body); }
        };
        const failure = error => error.kind ? `${error.kind} ${error.code ?? "-"}` : `${error.stack}`;
        const sent = make => {
          try {
            const request = make();
            if (!request) return "none";
            const headers = Object.entries(request.headers).map(([name, value]) => `${name}: ${value}`).sort();
            const body = request.body === undefined ? [] : ["", words(request.body)];
            return [`${request.method} ${request.url}`, ...headers, ...body].join("\\n");
          } catch (error) { return failure(error); }
        };
        const made = ({ profile, keyURI, credentials, session, lookup }) => {
          const one = new vendor(profile, {}, credentials);
          const given = { keyURI, session, lookup, spc: new Uint8Array([0xfb, 0xff, 0, 1]), messageID: "MESSAGE" };
          const all = { certificate: () => one.certificateRequest(given),
            lookup: () => one.lookupRequest({ keyURI, messageID: "MESSAGE" }) };
          for (const purpose of ["streaming", "persistable", "renewal"]) {
            all[purpose] = () => one.licenseRequest({ ...given, purpose });
          }
          for (const step of profile.session ? ["setup", "heartbeat", "teardown"] : []) {
            all[step] = () => one.sessionRequest(step, { session, messageID: "MESSAGE" });
          }
          return all;
        };
        const requests = exchanges => exchanges.map(one =>
          Object.fromEntries(Object.entries(made(one)).map(([name, make]) => [name, sent(make)])));
        // A session that a license opens has no setup.
        const isThere = (name, { session }) => name !== "setup" || session.setup;
        const changes = exchange => Object.entries(made(exchange)).flatMap(([name, make]) => {
          const given = isThere(name, exchange.profile) ? make() : null;
          if (!given) return [];
          const { url, ...options } = given;
          const real = new Request(url, options);
          const missing = Object.keys(options.headers).filter(name => real.headers.get(name) !== options.headers[name]);
          // Host names are the same in any letter case, and an empty path is sent as "/".
          const plain = url.replace(/^https:\\/\\/[^/?]+/, one => one.toLowerCase()).replace(/^([^/]+\\/\\/[^/?]+)(\\?|$)/, "$1/$2");
          return [...missing, ...(real.url === plain ? [] : [`${plain} becomes ${real.url}`])];
        });
        const replies = (what, { profile }, all) => all.map(({ status, headers, body }) => {
          try {
            const bytes = Uint8Array.from(atob(body), one => one.charCodeAt(0));
            const found = new vendor(profile)[what]({ status, headers, body: bytes });
            if (what === "certificate") return hex(found);
            const side = Object.entries(found.sideValues).map(([name, value]) => `${name}=${value}`).sort();
            return [`ckc ${hex(found.ckc)}`, ...side].join(" ");
          } catch (error) { return failure(error); }
        });
        </script>
        """
}
