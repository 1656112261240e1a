import CZlib
import Foundation
import LatchkeyCore
import LatchkeyTesting
import Testing

@testable import LatchkeyCommandLine
@testable import LatchkeyTerminal

/// One playback as each tool exports it: the same verdict from all, or that the recorder left something out, and never a false cause.
///
/// Source of the dialects: the tools' public code and the threads that each row names, read on 2026-11-29. The code of Fiddler, Charles,
/// Proxyman and Reqable is not public: these rows follow captures that people showed.
@Suite(.timeLimit(.minutes(3))) struct RecorderMatrixTests {
    typealias Object = [String: Any]

    /// How a tool writes an exchange, and the file.
    struct Recorder: Sendable, CustomTestStringConvertible {
        let name: String
        var creator = "x"
        /// Whether bodies or values are missing, so that the result cannot be "all is well".
        var leavesOut = false
        /// Whether the token is missing, so that a refusal is reported and no oddity of it.
        var entry: @Sendable (inout RecordedEntry) -> Void = { _ in }
        var log: @Sendable (inout Object) -> Void = { _ in }
        var file: @Sendable (Data) throws -> Data = { $0 }
        var testDescription: String { name }
    }

    static let recorders = [
        // devtools-frontend, front_end/models/har/Log.ts, and Blink's InspectorNetworkAgent: bytes that are not UTF-8 become characters, and
        // bodySize is the length of these in UTF-8. Authorization is left out unless sensitive data are wanted.
        Recorder(name: "Chrome", creator: "WebInspector") { entry in
            entry.sentByChrome()
            entry.request["headers"] = entry.headers.filter { $0["name"] != "Authorization" }
        },
        Recorder(name: "Chrome, with sensitive data", creator: "WebInspector") { $0.sentByChrome() },
        // WebKit, WebInspectorUI/UserInterface/Controllers/HARBuilder.js, and its InspectorNetworkAgent, which is as Blink's.
        Recorder(name: "Safari", creator: "WebKit Web Inspector") { entry in
            entry.sentAsCharacters(["params": [Object]()])
            entry.request["bodySize"] = -1
        },
        Recorder(name: "Safari, without the body", creator: "WebKit Web Inspector", leavesOut: true) { entry in
            if entry.isPost { entry.request["postData"] = nil }
        },
        // gecko, devtools/client/netmonitor/src/har/har-builder.js, and NetworkHelper.sys.mjs, which keeps non-UTF-8 bodies as characters.
        Recorder(name: "Firefox", creator: "Firefox") { $0.sentAsCharacters(["params": [Object]()]) },
        // A byte order mark: mitmproxy#6897, deviantintegral/har#18.
        Recorder(name: "Fiddler", creator: "Fiddler") {
            $0.sentAsCharacters()
        } file: {
            Data([0xef, 0xbb, 0xbf]) + $0
        },
        Recorder(name: "Charles", creator: "Charles Proxy") { entry in
            entry.sent(entry.body.base64EncodedString(), encoding: "base64")
        },
        // Older versions do not say that it is base64: browsermob-proxy#67.
        Recorder(name: "BrowserMob Proxy", creator: "BrowserMob Proxy") { entry in
            entry.sent(entry.body.base64EncodedString(), encoding: nil)
            entry.content["encoding"] = nil
        },
        // No bodies of requests: Proxyman#1614.
        Recorder(name: "Proxyman", creator: "Proxyman", leavesOut: true) { entry in
            if entry.isPost { entry.request["postData"] = nil }
        },
        // mitmproxy/addons/savehar.py: text with escaped surrogates, base64 of replies, and zlib for .zhar.
        Recorder(name: "mitmproxy", creator: "mitmproxy exporthar") { $0.sentAsSurrogates() },
        Recorder(name: "mitmproxy, .zhar", creator: "mitmproxy exporthar") {
            $0.sentAsSurrogates()
        } file: {
            try Deflated.data($0, windowBits: 15)
        },
        // httptoolkit-ui, model/http/har.ts; pcapng-utils does the same.
        Recorder(name: "HTTP Toolkit", creator: "HTTP Toolkit") { entry in
            guard entry.isPost else { return }
            entry.request["postData"] = nil
            entry.request["_requestBodyStatus"] = "discarded:not-representable"
            entry.request["_content"] =
                ["text": entry.body.base64EncodedString(), "size": entry.body.count, "encoding": "base64"] as Object
        } log: {
            $0["_tlsErrors"] = [["hostname": "metrics.apple.example", "cause": "cert-rejected"], ["cause": "closed"]]
        },
        Recorder(name: "HTTP Toolkit, too large", creator: "HTTP Toolkit", leavesOut: true) { entry in
            guard entry.isPost else { return }
            entry.request["postData"] = nil
            entry.request["_requestBodyStatus"] = "discarded:too-large"
        },
        Recorder(name: "Reqable", creator: "Reqable") { entry in
            entry.sent(entry.body.base64EncodedString(), encoding: "base64")
            entry.request["bodySize"] = -1
        },
        // wanghongenpin/proxypin, lib/utils/har.dart and lib/network/http/http.dart: characters in both directions.
        Recorder(name: "ProxyPin", creator: "ProxyPin") { entry in
            entry.sentAsCharacters()
            entry.cameAsCharacters()
        },
        // PCAPdroid#876: bytes read as UTF-8.
        Recorder(name: "PCAPdroid", creator: "PCAPdroid", leavesOut: true) { entry in
            guard entry.isPost else { return }
            entry.sent(String(decoding: entry.body, as: UTF8.self), encoding: nil)
        },
        // sitespeed.io#4526.
        Recorder(name: "browsertime, .har.gz", creator: "Browsertime") {
            $0.sentAsCharacters()
        } file: {
            try Deflated.data($0, windowBits: 15 + 16)
        },
        // PowerShell writes UTF-16.
        Recorder(name: "a shell's redirection") {
            $0.sentAsCharacters()
        } file: { data in
            Data([0xff, 0xfe])
                + Data(String(decoding: data, as: UTF8.self).utf16.flatMap { [UInt8($0 & 0xff), UInt8($0 >> 8)] })
        },
        // cloudflare/har-sanitizer, src/lib/har_sanitize.tsx: values by name.
        Recorder(name: "Cloudflare's sanitizer", creator: "WebInspector") { entry in
            entry.sentByChrome()
            entry.replace("Authorization", "[Authorization redacted]")
        },
        Recorder(name: "sanitizhar", creator: "WebInspector") { entry in
            entry.sentByChrome()
            entry.replace("Authorization", "[sanitized]")
        },
        Recorder(name: "stars", creator: "x") { entry in
            entry.sentAsCharacters()
            entry.replace("Authorization", "Bearer ****")
        },
        Recorder(name: "bodies redacted", creator: "x", leavesOut: true) { entry in
            guard entry.isPost else { return }
            entry.sent("[application/octet-stream redacted]", encoding: nil)
        },
    ]

    /// A license request with its token, as it was; a recorder edits it.
    private static func file(_ recorder: Recorder, status: Int, _ reply: RecordedTraffic.Body?) async throws -> Data {
        let headers = [
            "Authorization": "Bearer latchkey-demo-token",
            "Content-Length": "\(try await RecordedTraffic.parts.spc.count)",
        ]
        let traffic = try await RecordedTraffic().playlist().certificate().license(
            "https://media.example.com/generic/license", headers, status: status, reply)
        let spc = try await RecordedTraffic.parts.spc
        let entries = traffic.entries.map { whole -> Object in
            var entry = RecordedEntry(whole, spc)
            recorder.entry(&entry)
            return entry.whole
        }
        var log: Object = [
            "version": "1.2", "creator": ["name": recorder.creator, "version": "1"], "entries": entries,
        ]
        recorder.log(&log)
        let text = String(decoding: try JSONSerialization.data(withJSONObject: ["log": log]), as: UTF8.self)
        return try recorder.file(Data(RecordedEntry.withSurrogates(text).utf8))
    }

    private static func diagnosed(_ file: Data) async throws -> RecordedRun {
        let folder = try TemporaryFolder()
        try file.write(to: folder.file("session.har"))
        return await RecordedRun(
            ["doctor", "--har", folder.path("session.har"), "--vendor", "generic-raw", "--json"], tool: .standard)
    }

    @Test(arguments: recorders) func `a sound playback has one verdict, or something was left out`(_ recorder: Recorder)
        async throws
    {
        let run = try await Self.diagnosed(try await Self.file(recorder, status: 200, nil))
        #expect(run.cause == nil, "\(run.output)\(run.error)")
        #expect(run.status == (recorder.leavesOut ? .unknown : .yes), "\(run.output)\(run.error)")
    }

    @Test(arguments: recorders) func `a refusal has one cause from every recorder`(_ recorder: Recorder) async throws {
        let run = try await Self.diagnosed(
            try await Self.file(recorder, status: 403, .text(#"{"message":"subscription ended"}"#)))
        #expect(run.status == .no && run.cause == "forbidden", "\(run.output)\(run.error)")
        #expect(run.causeReason.contains("subscription ended"))
        let checks = run.json["checks"] as? [Object] ?? []
        #expect(!checks.contains { $0["step"] as? String == "license" && $0["result"] as? String == "warning" })
    }

    @Test func `curl -v of the same request names its missing parts (c43)`() async throws {
        let text = """
            *   Trying 127.0.0.1:8080...
            * Connected to media.example.com (127.0.0.1) port 80 (#0)
            > POST /generic/license HTTP/1.1
            > Host: media.example.com
            > User-Agent: curl/7.88.1
            > Authorization: Bearer latchkey-demo-token
            > Content-Type: application/octet-stream
            > Content-Length: LENGTH
            >
            } [1008 bytes data]
            < HTTP/1.1 403 Forbidden
            < Content-Length: 18
            <
            { [18 bytes data]
            * Connection #0 to host media.example.com left intact
            subscription ended
            """
        let sound = try await Self.diagnosed(Data(text.replacing("LENGTH", with: "1008").utf8))
        #expect(sound.cause == "forbidden" && sound.causeReason.contains("subscription ended"), "\(sound.output)")
        #expect(sound.causeReason.contains("http://media.example.com"))
        // h40: -d takes line ends and NUL bytes out of the SPC.
        let cut = try await Self.diagnosed(
            Data(
                text.replacing("LENGTH", with: "465").replacing("403 Forbidden", with: "400 Bad Request").replacing(
                    "subscription ended", with: "malformed request!"
                ).utf8))
        #expect(cut.cause == "spcIsCutShort" && cut.output.contains("--data-binary"), "\(cut.output)")
    }

    @Test func `a lone tunnel or a refused connection is reported as TLS not opened (h39)`()
        async throws
    {
        let tunnels = ["https://cdn.example.com:443/", "https://fps.ezdrm.com:443/"].reduce(RecordedTraffic()) {
            $0.adding("CONNECT", $1, status: 200)
        }
        let run = try await tunnels.diagnosed()
        #expect(run.status == .unknown && run.cause == nil)
        #expect(run.output.contains("did not open TLS to cdn.example.com, fps.ezdrm.com"), "\(run.output)")
    }

    @Test func `unrecorded bodies count as different (h33)`() async throws {
        let ckc = try await RecordedTraffic.parts.ckc
        let asked = { (traffic: RecordedTraffic) in
            traffic.adding(
                "POST", "https://a.example/license", ["Content-Type": "application/octet-stream"], .absent(1008),
                status: 200, [:], .base64(ckc))
        }
        let run = try await asked(
            asked(
                RecordedTraffic().playlist().playlist("skd://movie-2", "https://cdn.example.com/v/w.m3u8").certificate()
            )
        ).diagnosed("--vendor", "generic-raw")
        #expect(run.status == .unknown && !run.output.contains("no license in the capture"), "\(run.output)")
    }

    @Test(arguments: [
        (
            Data([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3]) + Data(repeating: 0xff, count: 40),
            "damaged (invalid block type)"
        ),
        (Data([0x78, 0xda, 7, 7, 7, 7, 7]), "damaged (invalid block type)"), (Data([0x1f, 0x8b, 8]), "breaks off"),
    ])
    func `a damaged compressed capture is reported as such`(data: Data, words: String) async throws {
        let run = try await Self.diagnosed(data)
        #expect(run.status == .no && run.errorCode == "captureMalformed", "\(run.output)\(run.error)")
        #expect(run.output.contains(words), "\(run.output)\(run.error)")
    }

    @Test(arguments: [15, 15 + 16]) func `a capture is unpacked whole, up to a limit, or not at all`(bits: Int32) throws
    {
        let whole = Data((0..<200_000).map { UInt8(truncatingIfNeeded: $0 / 7) })
        let packed = try Deflated.data(whole, windowBits: bits)
        #expect(try Inflate.unpacked(packed, limit: whole.count) == whole)
        let error = #expect(throws: Diagnosis.self) { try Inflate.unpacked(packed, limit: whole.count - 1) }
        #expect(error?.reason.contains("more than 0 MiB") == true)
        for count in 3..<packed.count {
            #expect(throws: Diagnosis.self) { try Inflate.unpacked(packed.prefix(count)) }
        }
        #expect(try Inflate.unpacked(whole) == whole)
    }
}

/// An entry of an archive whose parts a recorder edits.
struct RecordedEntry {
    var request, response, content: [String: Any]
    /// The SPC where the request has one.
    let body: Data

    init(_ whole: [String: Any], _ spc: Data) {
        request = whole["request"] as? [String: Any] ?? [:]
        response = whole["response"] as? [String: Any] ?? [:]
        content = response["content"] as? [String: Any] ?? [:]
        body = request["method"] as? String == "POST" ? spc : Data()
    }

    var whole: [String: Any] { ["request": request, "response": response.merging(["content": content]) { $1 }] }
    var isPost: Bool { !body.isEmpty }
    var headers: [[String: String]] { request["headers"] as? [[String: String]] ?? [] }

    mutating func sent(_ text: String, encoding: String?, _ members: [String: Any] = [:]) {
        guard isPost else { return }
        var data = members.merging(["mimeType": "application/octet-stream", "text": text]) { $1 }
        data["encoding"] = encoding
        request["postData"] = data
    }

    private static func characters(_ bytes: Data) -> String {
        String(String.UnicodeScalarView(bytes.map { Unicode.Scalar($0) }))
    }

    mutating func sentAsCharacters(_ members: [String: Any] = [:]) {
        sent(Self.characters(body), encoding: nil, members)
    }

    mutating func sentByChrome() {
        sentAsCharacters()
        if isPost { request["bodySize"] = Self.characters(body).utf8.count }
    }

    mutating func cameAsCharacters() {
        guard let bytes = (content["text"] as? String).flatMap({ Data(base64Encoded: $0) }), content["encoding"] != nil
        else { return }
        content["text"] = Self.characters(bytes)
        content["encoding"] = nil
    }

    /// Bytes that are not UTF-8 as surrogates; `withSurrogates` writes the escapes.
    mutating func sentAsSurrogates() {
        let scalars = body.map { $0 < 0x80 ? Unicode.Scalar($0) : Unicode.Scalar(0xf700 + UInt32($0)) ?? " " }
        sent(String(String.UnicodeScalarView(scalars)), encoding: nil)
    }

    static func withSurrogates(_ text: String) -> String {
        text.unicodeScalars.reduce(into: "") { out, scalar in
            if 0xf780...0xf7ff ~= scalar.value {
                out += "\\ud" + String(0xc00 + (scalar.value - 0xf700), radix: 16)
            } else {
                out.unicodeScalars.append(scalar)
            }
        }
    }

    mutating func replace(_ header: String, _ value: String) {
        request["headers"] = headers.map { $0["name"] == header ? ["name": header, "value": value] : $0 }
    }
}

/// Data that zlib compressed.
enum Deflated {
    /// - Parameter windowBits: 15 for zlib's format, and 16 more for gzip's.
    static func data(_ data: Data, windowBits: Int32) throws -> Data {
        let bytes = [UInt8](data)
        var stream = z_stream()
        let size = Int32(MemoryLayout<z_stream>.size)
        deflateInit2_(&stream, 9, Z_DEFLATED, windowBits, 8, Z_DEFAULT_STRATEGY, ZLIB_VERSION, size)
        defer { deflateEnd(&stream) }
        var out = [UInt8](repeating: 0, count: Int(deflateBound(&stream, UInt(bytes.count))))
        let status = bytes.withUnsafeBufferPointer { input in
            out.withUnsafeMutableBufferPointer { room in
                (stream.next_in, stream.avail_in) = (input.baseAddress, UInt32(input.count))
                (stream.next_out, stream.avail_out) = (room.baseAddress, UInt32(room.count))
                return deflate(&stream, Z_FINISH)
            }
        }
        try #require(status == Z_STREAM_END)
        return Data(out.dropLast(Int(stream.avail_out)))
    }
}
