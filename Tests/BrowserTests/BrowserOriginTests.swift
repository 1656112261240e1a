import Foundation
import LatchkeyCore
import LatchkeyForms
import LatchkeyHTTP
import Testing

@testable import LatchkeyServer
@testable import TestServers

extension InChromium {
    /// Pages of another origin than the license server's.
    @Suite(.timeLimit(.minutes(10))) struct BrowserOriginTests {
        @Test func `a page of an allowed origin begins, keeps and ends slots and sessions, and reads refusals`()
            async throws
        {
            let site = HTTPServer { _ in HTTPResponse(contentType: "text/html", bytes: Data("<body>".utf8)) }
            let origin = "http://127.0.0.1:\(try site.start())"
            let stage = try await TestServer(["tenants.demo.slots": "players", "tenants.demo.origins": [.text(origin)]])
            { folder in
                let policy = """
                    {"version":1,"name":"demo","validity":{"type":"lease","lease":"5m"},
                     "concurrency":{"limit":1,"heartbeat":"30s"}}
                    """
                try folder.write(policy, to: "policies/demo.json")
            }
            let kid = try Base64URL.text(TestServer.keyID(1).bytes)
            try await stage.importKeys([1])
            let pages = try BrowserPages()
            let page = try await pages.open(origin, width: 1_024)
            try await page.wait(until: "document.body")
            let seen = try await page.value(
                """
                (async () => {
                  const seen = [];
                  const ask = async (method, path, token, body) => {
                    const headers = { 'Authorization': `Bearer ${token}`, 'Content-Type': 'application/json' };
                    const url = `\(stage.server.addresses.players.url)/t/demo/${path}`;
                    try {
                      const reply = await fetch(url, { method, headers, body });
                      seen.push(`${method} ${path} ${reply.status} ${reply.headers.has('X-Request-Id')}`);
                      return reply;
                    } catch (error) {
                      seen.push(`${method} ${path} ${error}`);
                    }
                  };
                  const token = '\(try stage.token())';
                  // One stream is allowed: each begins only if the one before has ended.
                  for (const session of ['tv', 'console']) {
                    const body = JSON.stringify({ drm: 'widevine', asset: 'movie', session, device: session });
                    const slot = await (await ask('POST', 'slots', token, body)).json();
                    await ask('POST', 'slots/heartbeat', slot.heartbeatToken);
                    await ask('DELETE', 'slots', slot.heartbeatToken);
                  }
                  for (let round = 0; round < 2; round += 1) {
                    const body = JSON.stringify({ kids: ['\(kid)'], type: 'temporary' });
                    const session = (await ask('POST', 'clearkey', token, body)).headers.get('X-Latchkey-Heartbeat-Token');
                    await ask('POST', 'sessions/heartbeat', session);
                    await ask('DELETE', 'sessions', session);
                  }
                  await ask('POST', 'slots', 'no.token.atall', JSON.stringify({ drm: 'widevine', asset: 'movie', session: 'x' }));
                  await ask('POST', 'slots', token, 'x'.repeat(100000));
                  return seen.join('\\n');
                })()
                """)
            let slot = "POST slots 200 true\nPOST slots/heartbeat 200 true\nDELETE slots 204 true\n"
            let session = "POST clearkey 200 true\nPOST sessions/heartbeat 200 true\nDELETE sessions 204 true\n"
            // The listener itself refuses the last one; it has no name.
            let refusals = "POST slots 401 true\nPOST slots 413 false"
            #expect(seen.text == slot + slot + session + session + refusals)
            await site.stop(within: .zero)
        }
    }
}
