import Foundation
import LatchkeyHTTP
import LatchkeyMedia
import LatchkeyServices
import LatchkeyTesting
import Testing

@Suite struct MediaHostTests {
    @Test(arguments: [
        ("a.m3u8", "application/vnd.apple.mpegurl"), ("v/1.m4s", "video/iso.segment"), ("v/init.mp4", "video/mp4"),
        ("1.ts", "video/mp2t"), ("A.TS", "video/mp2t"), ("b c.vtt", "text/vtt"),
    ])
    func `media have their types`(_ path: String, _ type: String) throws {
        let folder = try TemporaryFolder()
        try folder.write("content", to: path)
        let response = respond(folder, "/\(path.replacing(" ", with: "%20"))")
        #expect(response.status == 200)
        #expect(response.headers["Content-Type"] == type)
    }

    @Test(arguments: ["keys.json", "make.sh", "private-key.pem", "noextension", "a.m3u8.bak"])
    func `other files are not served`(_ path: String) throws {
        let folder = try TemporaryFolder()
        try folder.write("secret", to: path)
        #expect(respond(folder, "/\(path)").status == 404)
    }

    @Test(arguments: [
        "/../out.ts", "/%2e%2e/out.ts", "/a/../../out.ts", "/..\\out.ts", "/a%00.ts", "/link.ts", "/link/out.ts",
    ])
    func `no path leads out of the folder`(_ path: String) throws {
        let outer = try TemporaryFolder()
        try outer.write("outside", to: "out.ts")
        try outer.write("inside", to: "media/in.ts")
        let media = outer.url.appendingPathComponent("media")
        let link = { (name: String, target: URL) in
            try FileManager.default.createSymbolicLink(
                at: media.appendingPathComponent(name), withDestinationURL: target)
        }
        try link("link.ts", outer.url.appendingPathComponent("out.ts"))
        try link("link", outer.url)
        let host = MediaHost(folder: media)
        #expect(host.respond(to: HTTPRequest(method: "GET", target: path)).status == 404)
        #expect(host.respond(to: HTTPRequest(method: "GET", target: "/in.ts")).status == 200)
    }

    @Test func `other methods are refused`() throws {
        let folder = try TemporaryFolder()
        try folder.write("content", to: "1.ts")
        #expect(respond(folder, "/1.ts", method: "DELETE").status == 405)
        #expect(respond(folder, "/1.ts", method: "HEAD").status == 200)
    }

    private func respond(_ folder: TemporaryFolder, _ path: String, method: HTTPMethod = .get) -> HTTPResponse {
        MediaHost(folder: folder.url).respond(to: HTTPRequest(method: method, target: path))
    }
}
