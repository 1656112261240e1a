import Foundation
import LatchkeyCore
import Testing

/// A secret in every place of a URL, and text that only looks like one. `Documentation/Redaction.md` has the grammar.
@Suite(.timeLimit(.minutes(1))) struct RedactionPlacesTests {
    private static let redaction = Redaction.standard

    /// Places in which any text is a secret: by the place, or by the name in front of it.
    static let named = [
        "https://ann:SECRET@host/p", "https://SECRET@host/p", "https://SECRET:@host/p", "//ann:SECRET@host/p",
        "https://ann%3ASECRET%40host/p", "https://ann:a/b?c#SECRET@host/p", "skd://ann:SECRET@host/key",
        "https://host/hdntl=exp=1700000000~acl=/*~data=hdntl~hmac=SECRET/list.m3u8",
        "/hdnts=exp=1~hmac=SECRET/list.m3u8", "https://host/exp=1~acl=%2Fa%2F*~hmac=SECRET/list.m3u8",
        "https://host/bcdn_token=SECRET&expires=1&token_path=%2Fa/list.m3u8", "https://host/a,token=SECRET/b",
        "https://host/list.m3u8;token=SECRET", "https://host/a;jsessionid=SECRET?x=1",
        "https://host/a;x=1;sig=SECRET/b",
        "https://host;token=SECRET/b", "https://host/%74oken=SECRET/b", "https://host/p%3Btoken%3DSECRET",
        "https://host/p?token=SECRET", "https://host/p?a=1&Signature=SECRET", "https://host/p?a=1;auth=SECRET",
        "https://host/p?to%6ben=SECRET", "https://host/p?token[]=SECRET", "https://host/p?x[token]=SECRET",
        "https://host/p??token=SECRET", "https://host/p&token=SECRET", "https://host/p?a=b?token=SECRET",
        "https://host/p?X-Amz-Credential=SECRET%2F20260101", "p/list.m3u8?hdnea=SECRET", "?token=SECRET",
        "https://host/p#access_token=SECRET&state=2", "https://host/p#/a?id_token=SECRET",
        "https://host/p#a/token=SECRET",
        "https://host/p?u=https://other/p?token=SECRET", "https://host/p?u=https://ann:SECRET@other/p",
        "https://host/p?u=https%3A%2F%2Fother%2Fp%3Ftoken%3DSECRET",
        "https://host/p?u=https%253A%252F%252Fother%252Fp%253Ftoken%253DSECRET",
        "https://host/p?u=https%3A%2F%2Fann%3ASECRET%40other%2Fp", "https://host/https://other/p;token=SECRET",
        "https://host/p?a=b%26token%3DSECRET", "skd://host/;token=SECRET", "skd://host/k#token=SECRET",
        "skd://token=SECRET&id=1", "skd://one?cek=SECRET&iv=00", "skd:https://host/p?token=SECRET",
        "rediss+sentinel://ann:SECRET@host:1/p", "https://host/p?token=‹4:0f0f0f›&auth=SECRET",
    ]

    /// Places that a name announces: the text after it is a secret if it is long or has a digit.
    static let announced = [
        "https://host/token/SECRET/list.m3u8", "https://host/v1/hmac/SECRET", "https://host/p#/token/SECRET",
        "https://host/auth:SECRET/p", "https://host/p?q=token:SECRET", #"https://host/p?{"token":"SECRET"}"#,
        "https://host/p?q=%7B%22a%22%3A%7B%22token%22%3A%22SECRET%22%7D%7D", "https://host/p?q=%2Ftoken%2FSECRET",
        "https://host/a/access_token/SECRET?b",
    ]

    /// Places in which only a text that looks like a secret is one.
    static let unnamed = [
        "https://host/s/SECRET/list.m3u8", "https://host/SECRET", "https://host/SECRET?x=1", "https://host/a;SECRET/b",
        "https://host/a;v=SECRET/b", "https://host/p?SECRET", "https://host/p?v=SECRET&w=1", "https://host/p?SECRET=1",
        "https://host/p#SECRET", "https://host/p#v=SECRET", "https://host/p?u=https://other/SECRET/p",
        "https://host/p?u=https%3A%2F%2Fother%2FSECRET%2Fp", "skd://host/SECRET", "skd://host/k?v=SECRET",
        "//host/SECRET/p",
    ]

    private static let short = "5ecre7"
    /// A signature of CloudFront's, a token in base64 with all of its alphabet, a JSON Web Token, a digest, claims, a URL in base64.
    static let random = [
        "hUt3kd9~Qm2ZxL8vPwA1sRf6TgYb4NcJ5eKi7oXq", "q83vEjRWeJ-rze8SNFZ4kA_Zx81LmQ2",
        "2fd4e1c67a2d28fced849ee1bb76e7391b93eb12",
        "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJhbm4ifQ.dBjftJeZ4CVPmBl9N2w", "eyJzdWIiOiJhbm4iLCJleHAiOjE3MDAwMDAwMDB9",
        "aHR0cHM6Ly9ob3N0L3A_dG9rZW49YWJjZGVm",
    ]

    private func expectHidden(_ secret: String, in url: String) {
        let json = String(decoding: (try? JSONEncoder().encode([url])) ?? Data(), as: UTF8.self)
        let shown = [
            Self.redaction.redacted(urlText: url), Self.redaction.redacted(prose: url),
            Self.redaction.redacted(prose: "Loading “\(url)”, and (\(url)).\n\(url)"),
            Self.redaction.redacted(prose: json),
            Self.redaction.redacted(words: "no \(url)!"),
        ]
        for text in shown where text.contains(secret) { Issue.record("\(secret) in \(text)") }
    }

    @Test(arguments: named, [short, "12345", "abcd", random[0], random[3]])
    func `a name or place makes any text secret`(place: String, secret: String) {
        expectHidden(secret, in: place.replacing("SECRET", with: secret))
    }

    @Test(arguments: announced, [short, "abcdefghijklmnop", random[0], random[3]])
    func `a preceding name makes a likely secret secret`(place: String, secret: String) {
        expectHidden(secret, in: place.replacing("SECRET", with: secret))
    }

    @Test(arguments: unnamed, random.dropFirst())
    func `a likely secret is hidden`(place: String, secret: String) {
        expectHidden(secret, in: place.replacing("SECRET", with: secret))
    }

    @Test(arguments: [
        "data:text/plain;base64,AAECAwQFBgcICQoLDA0ODw==", "DATA:;base64,AAECAwQFBgcICQoLDA0ODw==",
        "data:,AAECAwQFBgcICQoLDA0ODw==",
    ])
    func `a data URL's bytes are secret`(url: String) {
        #expect(!Self.redaction.redacted(urlText: url).contains("AAECAw"))
        #expect(!Self.redaction.redacted(prose: #"{"uri":"\#(url)"}"#).contains("AAECAw") || !url.contains("base64"))
    }

    @Test(arguments: named) func `an URL's secret is found for use elsewhere`(place: String) {
        let secrets = Self.redaction.secrets(inURL: place.replacing("SECRET", with: "q83vEjRWeJrze8"))
        #expect(secrets.contains { $0.revealedText.contains("q83vEjRWeJrze8") })
    }

    /// Key URIs of the vendors' pages (`Documentation/Vendors`), and of packagers.
    static let keys = [
        "skd://fairplay-license.vudrm.tech/license/movie-1",
        "skd://fairplay-license.vudrm.tech/v2/license/0123456789abcdef0123456789abcdef",
        "skd://acme.la.drm.cloud/acquire-license/fairplay?BrandGuid=5d0e6f8a-2f4b-4c1d-9a3e-7b8c9d0e1f2a&KID=5D0E6F8A-2F4B-4C1D-9A3E-7B8C9D0E1F2A&IV=0123456789ABCDEF0123456789ABCDEF",
        "skd://0123456789abcdef0123456789abcdef:0123456789ABCDEF0123456789ABCDEF", "skd://drmtoday",
        "skd://drmtoday?assetId=movie-1&variantId=&keyId=0123456789abcdef0123456789abcdef&keyRotationId=0",
        "skd://fps.ezdrm.com/;297f600f-1234-1234-b060-2ac13cc42585", "skd://297f600f-1234-1234-b060-2ac13cc42585",
        "skd:movie-1", "skd:https://ees.example/sees?cid=movie-1", "skd://ees.example/sees?cid=movie-1",
        "skd://movie:1",
        "skd://acme.live.ott.irdeto.com/licenseServer/streaming/v1/ACME/getckc?contentId=c1&keyId=5d0e6f8a-2f4b-4c1d-9a3e-7b8c9d0e1f2a",
        "skd://license.mux.com/?playbackId=qIJBuHQRfqfFHNGqTgcRxLXPgNBSZqs3", "skd://oLHC0+T1BhcoOUpbbH2Onw==",
        "skd://oLHC0+T1BhcoOUpbbH2Onw==#skd://demo/video#", "skd://scLT5PUG/yg5SltsfY6foA==", "skd://k%2Fid",
        "skd://clé/映画", "skd://host/caf%E9",
        "skd://eyJDb250ZW50SWQiOiJtb3ZpZS0xIiwiS2V5SWQiOiI1ZDBlNmY4YS0yZjRiLTRjMWQtOWEzZS03YjhjOWQwZTFmMmEiLCJJViI6IjAifQ==",
        "skd://acct.keydelivery.northeurope.media.azure.net/FairPlay/?kid=5d0e6f8a-2f4b-4c1d-9a3e-7b8c9d0e1f2a",
        "skd://content.uplynk.com/fp?b=0123456789abcdef0123456789abcdef&a=1&ray=c", "skd://asset-42?x=1",
        "skd://series/5d0e6f8a-2f4b-4c1d-9a3e-7b8c9d0e1f2a", "skd://{contentId}/{kid}", "skd://host?token={token}",
        "skd://…?token=…",
    ]
    /// Addresses of playlists, segments and services.
    static let streams = [
        "https://stream.mux.com/qIJBuHQRfqfFHNGqTgcRxLXPgNBSZqs3.m3u8",
        "https://host/asset_0a1b2c3d-1111-2222-3333-444455556666/fileSequence00001234.m4s",
        "https://bitdash-a.akamaihd.net/content/MI201109210084_1/m3u8s/f08e80da-bf1d-4e3d-8899-f0f6155f6efa.m3u8",
        "https://devstreaming-cdn.apple.com/videos/streaming/examples/img_bipbop_adv_example_fmp4/master.m3u8",
        "https://host/2026/11/28/Episode-2026-11-28-1080p-HEVC-v2/init_Video_1080p_6000kbps_0001.m4s",
        "https://host/Asset_5d0e6f8a-2f4b-4c1d-9a3e-7b8c9d0e1f2a/5D0E6F8A-2F4B-4C1D-9A3E-7B8C9D0E1F2A_5d0e6f8a-2f4b-4c1d-9a3e-7b8c9d0e1f2a/x.ts",
        "https://host/out/v1/0123456789abcdef0123456789abcdef/index_1_0.ts?m=1700000000", "https://host/dQw4w9WgXcQ/x",
        "https://host/hls/live/2003459/uscdnch01/chunklist_b2128000.m3u8",
        "https://host:8443/t/acme/vudrm/license/movie-1",
        "https://host/Content/HLS_Live/Channel(CNN)/Stream(04)/index.m3u8",
        "https://host/p?_HLS_msn=273&_HLS_part=2&_HLS_skip=YES", "https://host/p?siteId=ABCD&cid=movie-1&drm=fairplay",
        "",
        "https://host/api/v2/Licenses/GetFairPlayCertificate2026.cer", "not a url", "a/b/c.m3u8",
        "https://host/a=1~b=2~c=3~d=4~e=5~f=6~g=7/x", "https://host/a=1,b=2,c=3,d=4,e=5,f=6,g=7/x",
        "https://host/p?id=7&flag", "//host/p@q",
    ]

    @Test(arguments: keys + streams) func `other texts stay`(_ url: String) {
        #expect(Self.redaction.redacted(urlText: url) == url)
        let prose = "The key “\(url)” (\(url)) failed, \(url)."
        #expect(Self.redaction.redacted(prose: prose) == prose)
        #expect(Self.redaction.secrets(inURL: url).isEmpty)
    }

    @Test(arguments: named + announced + unnamed) func `redacting redacted text changes nothing`(_ place: String) {
        let once = Self.redaction.redacted(urlText: place.replacing("SECRET", with: Self.random[1]))
        #expect(Self.redaction.redacted(urlText: once) == once)
        #expect(Self.redaction.redacted(prose: once) == once)
    }
}

/// Properties that hold for any text.
@Suite(.timeLimit(.minutes(1))) struct RedactionPropertyTests {
    private static let pieces = [
        "/", "?", "#", "&", ";", "=", "~", ",", ":", "//", "@", "%", "%2F", "%253D", "token", "host", "skd:", "https:",
        "data:", "a", "7", "é",
        "‹", "›", "{", "}", "…", "eyJhbGciOiJ", ".", "\\", "\"", " ", "q83vEjRWeJrze8SNFZ4kA",
    ]

    private func text(_ seed: UInt64) -> String {
        var generator = SeededGenerator(seed: seed)
        return (0..<Int.random(in: 0..<40, using: &generator)).map { _ in
            Self.pieces.randomElement(using: &generator) ?? ""
        }.joined()
    }

    @Test(arguments: 0..<400 as Range<UInt64>) func `a text's parts add up to it`(_ seed: UInt64) {
        let text = text(seed)
        #expect(Redaction.standard.mapping(urlText: text, \.text) == text)
    }

    @Test(arguments: 0..<400 as Range<UInt64>)
    func `no preceding text exposes a secret name's value`(_ seed: UInt64) {
        let text = text(seed)
        #expect(!Redaction.standard.redacted(urlText: "\(text)&token=5ecre7x").contains("5ecre7x"))
        #expect(!Redaction.standard.redacted(prose: "\(text)&token=5ecre7x").contains("5ecre7x"))
    }

    /// A quadratic scan would outlast the suite.
    @Test(arguments: [
        "?a=b&token", "/token", "/token/a", "#a=b/", "#token/a/", "a://b:x/", "a://b:x", "%25", "eyJ", "eyJaaaaaaaa.",
        "~", "=", "token=", "a=b=", ":", "auth:", "{\"a\":", "@", "//", "//@", "data:", "‹", "…", "a=/?a=", "%3D%2F",
        ";a=%253D", "skd:", "https://h/?u=", "a", "\\u0041", "\"token\":\"",
    ])
    func `a long text takes a time that grows with it`(_ piece: String) {
        let text = String(repeating: piece, count: 30_000 / piece.utf8.count)
        #expect(!Redaction.standard.redacted(urlText: "https://host/#\(text)").isEmpty)
        #expect(!Redaction.standard.redacted(prose: "https://host/?a=\(text)").isEmpty)
    }
}
