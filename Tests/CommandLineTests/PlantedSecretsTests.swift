import Foundation
import LatchkeyCore
import LatchkeyTesting
import Testing

@testable import LatchkeyCommandLine
@testable import LatchkeyTerminal

/// Secrets planted in every input of every verb, and looked for in all that it prints.
@Suite(.timeLimit(.minutes(5))) struct PlantedSecretsTests {
    /// Given by name on the command line.
    private static let token = "tok/9f8e7d6c+5b4a39281706"
    /// In a URL. The secrets in the path, the query and the fragment have no name, and look random.
    private static let places = [
        "user", "list", "announced", "matrix", "named", "encoded", "twice", "inner", "access",
    ].map { "\($0)-5544332211aabbcc" }
    private static let random = [
        "q83vEjRWeJrze8SNFZ4kA0m2ZxL8", "Zx81LmQ2hUt3kd9Qm2ZxL8vPwA1s", "vPwA1sRf6TgYb4NcJ5eKi7q83vEj",
    ]

    private static func encoded(_ text: String) -> String {
        text.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? text
    }

    /// A URL with a secret in every place.
    private static func address(_ base: String, file: String = "list.m3u8") -> String {
        let mark = base.range(of: "://")?.upperBound ?? base.startIndex
        let lists = "hdntl=exp=1700000000~acl=/*~hmac=\(places[1])/token/\(places[2])/\(random[0])"
        let once = encoded("https://x/?token=\(places[5])")
        let twice = encoded(encoded("https://x/;sig=\(places[6])"))
        let query = "auth=\(places[4])&u=\(once)&w=\(twice)&v=https://ann:\(places[7])@x/&z=\(random[1])"
        let fragment = "access_token=\(places[8])&y=\(random[2])"
        return
            "\(base[..<mark])ann:\(places[0])@\(base[mark...])/\(lists)/\(file);sig=\(places[3])?\(query)#\(fragment)"
    }

    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func file(_ text: String, _ name: String) throws -> String {
        try Data(text.utf8).write(to: folder.file(name))
        return folder.path(name)
    }

    private static let uri = address("skd://host", file: "key")

    private var playlist: String {
        """
        #EXTM3U
        #EXT-X-TARGETDURATION:6
        #EXT-X-MAP:URI="\(Self.address("https://127.0.0.1:1", file: "init.mp4"))"
        #EXT-X-KEY:METHOD=SAMPLE-AES,URI="\(Self.uri)",KEYFORMAT="com.apple.streamingkeydelivery",KEYFORMATVERSIONS="1"
        #EXTINF:6,
        \(Self.address("https://127.0.0.1:1", file: "a.ts"))
        #EXT-X-ENDLIST

        """
    }

    private var archive: String {
        get throws {
            let url = Self.address("https://fairplay-license.vudrm.tech/license", file: "a")
            let headers = [
                ["name": "x-vudrm-token", "value": Self.token], ["name": "Cookie", "value": Self.token],
                ["name": "Referer", "value": url],
            ]
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
                                "status": 403, "redirectURL": url,
                                "headers": [
                                    ["name": "x-request-id", "value": "r-1"], ["name": "Location", "value": url],
                                ],
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
        "--vendor", "vudrm", "--set", "certificateURL=\(address("http://127.0.0.1:1"))", "--set",
        "token=\(token)",
    ]

    /// A command line for each verb, which reads the planted inputs.
    private var runs: [(verb: String, words: [String])] {
        get throws {
            let list = try file(playlist, "list.m3u8")
            let har = try file(try archive, "traffic.har")
            let body = try file(#"{"error":"\#(Self.token)","message":"\#(Self.uri)","code":"\#(Self.token)"}"#, "body")
            let jwt = [#"{"alg":"HS256"}"#, #"{"exp":1,"iss":"\#(Self.uri)"}"#, Self.token].map {
                Data($0.utf8).base64EncodedString().replacing("=", with: "").replacing("+", with: "-")
                    .replacing("/", with: "_")
            }.joined(separator: ".")
            let spc = try file("spc \(Self.uri)", "spc")
            let curl =
                "curl '\(Self.address("https://fairplay-license.vudrm.tech/license", file: "a"))' -H 'x-vudrm-token: \(Self.token)'"
            let profile = #"{"identifier":"a","name":"\#(Self.uri)"}"#
            return [
                ("keys", ["keys", list]),
                ("keys", ["keys", list, "--imports", "token=\(Self.token)"]),
                ("keys", ["keys", folder.path("none?token=\(Self.places[4])")]),
                ("keys", ["keys", Self.address("http://127.0.0.1:1")]),
                ("doctor", ["doctor", list] + Self.settings),
                ("doctor", ["doctor", Self.address("http://127.0.0.1:1")] + Self.settings),
                ("doctor", ["doctor", "--har", har]),
                ("play", ["play", list] + Self.settings),
                (
                    "play",
                    ["play", Self.address("http://127.0.0.1:1")] + Self.settings
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
                    ["load", "http://127.0.0.1:1/t/demo?token=\(Self.places[4])", "--for", "1s", "--rate", "1"]
                ),
                (
                    "probe",
                    [
                        "probe", "--license-url", "http://127.0.0.1:1/t/demo/fairplay?token=\(Self.places[4])",
                        "--content-id", Self.uri, "--credentials", folder.path("none"),
                    ]
                ),
                ("vendors", ["vendors", Self.uri]),
            ]
        }
    }

    /// Verbs that are not run here, each with the reason.
    private static let others = [
        "serve": "prints the keys of its own emulated services, for tests", "demo": "plays its own streams",
        "vendors show": "prints a profile of Latchkey's, which holds no secret", "completions": "prints its own words",
    ]

    private static var forms: [String] {
        ([token] + places + random).flatMap { secret -> [String] in
            let base64 = Data(secret.utf8).base64EncodedString()
            return [
                secret, encoded(secret),
                secret.replacing("/", with: "\\/"), base64.replacing("=", with: ""), Data(secret.utf8).hexString,
            ]
        }
    }

    @Test func `no verb prints a secret from its input`() async throws {
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
                // The verb wrote these. It read the inputs.
                for name in ["bundle.zip", "o", "s"] where FileManager.default.fileExists(atPath: folder.path(name)) {
                    let written = String(decoding: try Data(contentsOf: folder.file(name)), as: UTF8.self)
                    #expect(forms.filter { written.contains($0) } == [], "\(verb) wrote \(name)")
                }
                looked += 1
            }
        }
        // Each search covers real output: \(runs.count) command lines, most of them twice.
        #expect(looked >= 39, "\(looked)")
    }

    @Test func `the same inputs show the secrets where nothing hides them, so the test can fail`() async throws {
        let shown = await RecordedRun(
            [
                "wire", "response", "--reveal", "--vendor", "vudrm", "--set", "token=\(Self.token)", "--status", "403",
                "--header", "x-request-id: \(Self.token)", "--body", try file("x", "body"),
            ], tool: .standard)
        #expect(shown.output.contains(Self.token))
    }

    @Test func `a secret is hidden in every printable form`() {
        let console = Console(output: MemorySink(), error: MemorySink(), showsProgress: false) { _ in Data() }
        console.secrets.hide(Secret(Self.token))
        for form in Self.forms.prefix(2) { #expect(!console.secrets.shown("a \(form) b").contains(form)) }
        #expect(console.secrets.shown("short") == "short")
        console.secrets.reveal()
        #expect(console.secrets.shown(Self.token) == Self.token)
    }
}
