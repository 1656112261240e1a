import Foundation
import LatchkeyCore
import LatchkeyTesting
import Testing

@testable import LatchkeyCommandLine
@testable import LatchkeyTerminal

/// Secrets planted in every input of every verb, and looked for in all that it prints.
@Suite(.timeLimit(.minutes(5))) struct PlantedSecretsTests {
    /// Given by name on the command line, in a URL, as a password in a URL.
    private static let token = "tok/9f8e7d6c+5b4a39281706"
    private static let ofURL = "urlsecret-5544332211aabbcc"
    private static let password = "passw0rd-77665544332211"

    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func file(_ text: String, _ name: String) throws -> String {
        try Data(text.utf8).write(to: folder.file(name))
        return folder.path(name)
    }

    private static let uri = "skd://host/key?token=\(ofURL)"

    private var playlist: String {
        """
        #EXTM3U
        #EXT-X-TARGETDURATION:6
        #EXT-X-KEY:METHOD=SAMPLE-AES,URI="\(Self.uri)",KEYFORMAT="com.apple.streamingkeydelivery",KEYFORMATVERSIONS="1"
        #EXTINF:6,
        https://ann:\(Self.password)@127.0.0.1:1/a.ts?auth=\(Self.ofURL)
        #EXT-X-ENDLIST

        """
    }

    private var archive: String {
        get throws {
            let headers = [["name": "x-vudrm-token", "value": Self.token], ["name": "Cookie", "value": Self.token]]
            let url = "https://ann:\(Self.password)@fairplay-license.vudrm.tech/license/a?token=\(Self.ofURL)"
            let log: [String: Any] = [
                "log": [
                    "entries": [
                        [
                            "request": [
                                "method": "POST", "url": url, "headers": headers,
                                "postData": [
                                    "mimeType": "application/json",
                                    "text": #"{"token":"\#(Self.token)","payload":"AAAA"}"#,
                                ],
                            ],
                            "response": [
                                "status": 403, "headers": [["name": "x-request-id", "value": "r-1"]],
                                "content": ["text": "no \(Self.uri)"],
                            ],
                        ]
                    ]
                ]
            ]
            return String(decoding: try JSONSerialization.data(withJSONObject: log), as: UTF8.self)
        }
    }

    private static let settings = [
        "--vendor", "vudrm", "--set", "certificateURL=http://ann:\(password)@127.0.0.1:1/c?token=\(ofURL)", "--set",
        "token=\(token)",
    ]

    /// A command line for each verb, which reads the planted inputs.
    private var runs: [(verb: String, words: [String])] {
        get throws {
            let list = try file(playlist, "list.m3u8")
            let har = try file(try archive, "traffic.har")
            let body = try file(#"{"error":"\#(Self.token)","message":"\#(Self.uri)","code":"\#(Self.token)"}"#, "body")
            let jwt = [#"{"alg":"HS256"}"#, #"{"exp":1}"#, Self.token].map {
                Data($0.utf8).base64EncodedString().replacing("=", with: "").replacing("+", with: "-")
                    .replacing("/", with: "_")
            }.joined(separator: ".")
            let spc = try file("spc \(Self.uri)", "spc")
            let curl =
                "curl 'https://ann:\(Self.password)@fairplay-license.vudrm.tech/license/a?token=\(Self.ofURL)' -H 'x-vudrm-token: \(Self.token)'"
            let profile = #"{"identifier":"a","name":"\#(Self.uri)"}"#
            return [
                ("keys", ["keys", list]),
                ("keys", ["keys", list, "--imports", "token=\(Self.token)"]),
                ("keys", ["keys", folder.path("none?token=\(Self.ofURL)")]),
                ("doctor", ["doctor", list] + Self.settings),
                ("doctor", ["doctor", "--har", har]),
                ("play", ["play", list] + Self.settings),
                (
                    "play",
                    ["play", "http://ann:\(Self.password)@127.0.0.1:1/a.m3u8?token=\(Self.ofURL)"] + Self.settings
                ),
                ("capture", ["capture", list, "--out", folder.path("bundle.zip")] + Self.settings),
                ("replay", ["replay", spc]),
                ("vendors identify", ["vendors identify", Self.uri]),
                ("vendors identify", ["vendors identify", har]),
                ("vendors identify", ["vendors identify", curl]),
                ("vendors check", ["vendors check", try file(profile, "profile.json")]),
                ("inspect", ["inspect", spc]),
                ("inspect", ["inspect", "token", try file(jwt, "token")]),
                ("explain", ["explain", try file("-42656 at \(Self.uri) \(Self.token)", "log")]),
                (
                    "spc",
                    [
                        "spc", "--credentials", folder.path("none"), "--content-id", Self.uri, "--out",
                        folder.path("o"), "--state", folder.path("s"),
                    ]
                ),
                ("ckc", ["ckc", "--credentials", folder.path("none"), "--key", "00", "--iv", "00", spc]),
                ("open-ckc", ["open-ckc", "--state", spc, spc]),
                ("credentials", ["credentials", "--out", folder.path("list.m3u8/\(Self.uri)")]),
                (
                    "wire request",
                    ["wire request"] + Self.settings + ["--key-uri", Self.uri, "--spc", spc]
                ),
                (
                    "wire response",
                    [
                        "wire response", "--vendor", "vudrm", "--set", "token=\(Self.token)", "--status", "403",
                        "--header", "x-request-id: \(Self.token)", "--header", "location: \(Self.uri)", "--body", body,
                    ]
                ),
                (
                    "load",
                    ["load", "http://127.0.0.1:1/t/demo?token=\(Self.ofURL)", "--for", "1s", "--rate", "1"]
                ),
                ("vendors", ["vendors", "vudrm"]),
            ]
        }
    }

    /// Verbs that are not run here, each with the reason.
    private static let others = [
        "serve": "prints the keys of its own emulated services, for tests", "demo": "plays its own streams",
        "vendors show": "prints a profile of Latchkey's, which holds no secret", "completions": "prints its own words",
    ]

    private static var forms: [String] {
        [token, ofURL, password].flatMap { secret -> [String] in
            let base64 = Data(secret.utf8).base64EncodedString()
            return [
                secret, secret.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? secret,
                secret.replacing("/", with: "\\/"), base64.replacing("=", with: ""), Data(secret.utf8).hexString,
            ]
        }
    }

    @Test func `no verb prints a secret that it was given or read`() async throws {
        let (runs, forms) = (try runs, Self.forms)
        let standard = Set(CommandLineTool.standard.verbs.map(\.usage.name))
        #expect(Set(runs.map(\.verb)).union(Self.others.keys) == standard)
        var looked = 0
        for (verb, words) in runs {
            let split = words[0].split(separator: " ").map(String.init) + words.dropFirst()
            let takesJSON = CommandLineTool.standard.verbs.first { $0.usage.name == verb }?.usage.options
                .contains { $0.name == "--json" }
            for options in takesJSON == true ? [[], ["--json"]] : [[]] {
                let run = await RecordedRun(split + options, tool: .standard)
                let printed = run.output + run.error
                // An output of nothing has no secret, and shows nothing.
                #expect(printed.utf8.count > 10, "\(verb)")
                let found = forms.filter { printed.contains($0) }
                #expect(found == [], "\(verb) \(options): \(printed.prefix(2_000))")
                looked += 1
            }
        }
        // Each look is at something: \(runs.count) command lines, most of them twice.
        #expect(looked >= 35, "\(looked)")
    }

    @Test func `the same inputs show the secrets where nothing hides them, so that the look can fail`() async throws {
        let shown = await RecordedRun(
            [
                "wire", "response", "--reveal", "--vendor", "vudrm", "--set", "token=\(Self.token)", "--status", "403",
                "--header", "x-request-id: \(Self.token)", "--body", try file("x", "body"),
            ], tool: .standard)
        #expect(shown.output.contains(Self.token))
    }

    @Test func `a secret is hidden in every form in which it may be printed`() {
        let console = Console(output: MemorySink(), error: MemorySink(), showsProgress: false) { _ in Data() }
        console.secrets.hide(Secret(Self.token))
        for form in Self.forms.prefix(2) { #expect(!console.secrets.shown("a \(form) b").contains(form)) }
        #expect(console.secrets.shown("short") == "short")
        console.secrets.reveal()
        #expect(console.secrets.shown(Self.token) == Self.token)
    }
}
