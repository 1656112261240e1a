/// Latchkey's differences from THEOplayer's samples, by the sample's name.
enum THEOplayerDifferences {
    static let all = [
        "VuDRM": vuDRM,
        "Azure": azure,
        "Uplynk": uplynk,
        "EZDRM": ezdrm,
        "Verimatrix Core": verimatrix,
        "Titanium": titanium,
    ]

    private static let vuDRM: [ListedDifference] = [
        ListedDifference(
            "The sample gives a request without a body a content type.",
            [.certificateHeaders], in: nil),
        ListedDifference(
            "The key URI names no key here: an empty id is refused before it is sent.",
            [.identifier, .licenseURL, .licenseHeaders, .contentType, .body],
            in: [
                "skd://keys.example/path/movie-1/", "skd://keys.example/path/movie-1//", "skd://keys.example/path/",
                "skd://",
            ]),
        ListedDifference(
            "Nothing stands behind a slash that is not there; the sample takes the whole text, scheme and all.",
            [.identifier, .licenseURL, .licenseHeaders, .contentType, .body],
            in: ["skd:", "skd:movie-1", "movie-1"]),
        ListedDifference(
            "An empty token is asked for again before anything is sent; the sample sends it.",
            [.identifier, .certificateURL, .licenseURL, .licenseHeaders, .contentType, .body],
            in: ["token \"\""]),
        ListedDifference(
            "A line break in a header would begin another field; it is refused.",
            [.certificateURL],
            in: ["token \"a\\nb\""]),
    ]

    private static let azure: [ListedDifference] = [
        ListedDifference(
            "The sample gives a request without a body a content type.",
            [.certificateHeaders], in: nil),
        ListedDifference(
            "An empty text behind the question mark names nothing; the whole URI does.",
            [.identifier, .body],
            in: ["skd://keys.example/path/movie-1?"]),
        ListedDifference(
            "The key URI's kid chooses the key, so a configured address gets it; the sample leaves the id unescaped.",
            [.licenseURL, .body],
            in: ["skd://keys.example/path/movie-1?kid=0a1b&KID=2&b=9"]),
        ListedDifference(
            "The sample leaves the id unescaped in the form, where it means another text.",
            [.body],
            in: [
                "skd://keys.example/path/my%20movie", "skd://keys.example/path/a%2Fb",
                "skd://keys.example/path/gr%C3%B6%C3%9Fe", "skd://keys.example/path/a&b=c",
                "skd://keys.example/path/a%2520b",
            ]),
        ListedDifference(
            "An open policy needs no token, and no Authorization without one.",
            [.licenseHeaders],
            in: ["token \"\""]),
        ListedDifference(
            "A line break in a header would begin another field; it is refused.",
            [.identifier, .certificateURL, .licenseURL, .licenseHeaders, .contentType, .body],
            in: ["token \"a\\nb\""]),
    ]

    private static let uplynk: [ListedDifference] = [
        ListedDifference(
            "Without an item b the sample ends the process; the vendor's own samples take the first item.",
            [.identifier, .licenseURL, .licenseHeaders, .contentType, .body],
            in: [
                "skd://keys.example/path/movie-1?x=1", "skd://keys.example/path/movie-1?x=a/b",
                "skd://keys.example/path/movie-1?a?b=c", "skd://keys.example/path/;guid?x=1;y=2",
                "skd:https://h.example/a?cid=1",
            ]),
        ListedDifference(
            "URLSession calls a body without a type a form; the vendor's own sample says JSON.",
            [.contentType],
            in: [
                "skd://keys.example/path/movie-1?kid=0a1b&KID=2&b=9", "skd://keys.example/path/?b=9",
                "skd://h.example?b=1", "https://h.example/a?b=1", "token \"a+b/c==|d\"", "token \"a\\\"b\\\\c\"",
                "token \"größe\"", "token \"a b\"", "token \"\"", "token \"a\\nb\"", "token \"a&b=c\"",
                "token \"a%20b\"",
                "certificate https://c.example/cert?was=here", "certificate https://c.example/cert#f",
                "certificate https://c.example/cert?Signature=a%2Bb%3D", "certificate https://c.example/a%20b",
                "certificate https://user@c.example:8443/cert", "certificate https://c.example",
            ]),
    ]

    private static let ezdrm: [ListedDifference] = [
        ListedDifference(
            "The GUID names the key, of both forms of a key URI and without a query (Documentation/Vendors/EZDRM.md).",
            [.identifier], in: nil,
            except: ["skd://keys.example/path/a;b=1;c", "skd://keys.example/path/;guid", "movie-1"]),
        ListedDifference(
            "The key URI names no key here: an empty id is refused before it is sent.",
            [.licenseURL, .licenseHeaders, .contentType, .body],
            in: ["skd://", "skd:"]),
    ]

    private static let verimatrix: [ListedDifference] = [
        ListedDifference(
            "The sample names itself as user agent, which the service does not ask for.",
            [.licenseHeaders], in: nil),
        ListedDifference(
            "The key URI names no key here: an empty id is refused before it is sent.",
            [.identifier, .licenseURL, .contentType, .body],
            in: ["skd://", "skd:"]),
        ListedDifference(
            "A scheme has other forms than skd:// in these letters, and is no part of the id.",
            [.identifier],
            in: [
                "skd:movie-1", "skd:a/b", "SKD://H.example/License/ABC", "skd:https://h.example/a?cid=1",
                "https://h.example/a?b=1",
            ]),
        ListedDifference(
            "The sample puts the token into the query unescaped, where it means another text.",
            [.licenseURL],
            in: [
                "token \"a+b/c==|d\"", "token \"a\\\"b\\\\c\"", "token \"größe\"", "token \"a b\"", "token \"a&b=c\"",
                "token \"a%20b\"", "token \"a\\nb\"",
            ]),
        ListedDifference(
            "An empty token is asked for again before anything is sent; the sample sends it.",
            [.identifier, .licenseURL, .contentType, .body],
            in: ["token \"\""]),
    ]

    private static let titanium: [ListedDifference] = [
        ListedDifference(
            "The key URI names no key here: an empty id is refused before it is sent.",
            [.identifier, .licenseURL, .licenseHeaders, .contentType, .body],
            in: [
                "skd://keys.example/path/movie-1/", "skd://keys.example/path/movie-1//", "skd://keys.example/path/",
                "skd://",
            ]),
        ListedDifference(
            "Nothing stands behind a slash that is not there; the sample takes the whole text, scheme and all.",
            [.identifier, .licenseURL, .licenseHeaders, .contentType, .body],
            in: ["skd:", "skd:movie-1", "movie-1"]),
        ListedDifference(
            "An empty token is asked for again before anything is sent; the sample sends it.",
            [.identifier, .licenseURL, .licenseHeaders, .contentType, .body],
            in: ["token \"\""]),
        ListedDifference(
            "A line break in a header would begin another field; it is refused.",
            [.identifier, .licenseURL, .licenseHeaders, .contentType, .body],
            in: ["token \"a\\nb\""]),
    ]
}
