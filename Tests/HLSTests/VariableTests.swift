import Foundation
import LatchkeyCore
import LatchkeyHLS
import Testing

/// Rules 18 to 20 of `Documentation/HLS.md` §7: EXT-X-DEFINE and references to variables.
@Suite struct VariableTests {
    private static let uri = "https://cdn.example.com/p.m3u8?tok=a%2Fb&empty=&tok=second&flag#frag=1"

    private func keyURI(_ definitions: [String], _ reference: String, imports: [String: String]? = nil) throws
        -> String?
    {
        let lines = definitions.map { "#EXT-X-DEFINE:\($0)" } + [PlaylistText.key(reference)]
        return try PlaylistText.media(lines, uri: Self.uri, imports: imports).keyTags.first?.uri?.raw
    }

    @Test(arguments: [
        ("skd://{$id}", "skd://movie"), ("{$id}{$id}", "moviemovie"), ("skd://{$ID}", "skd://upper"),
        ("skd://{$a-b_9}", "skd://{$id}"), ("skd://{id}", "skd://{id}"), ("skd://{$}", "skd://{$}"),
        ("skd://{$id", "skd://{$id"), ("skd://{$i d}", "skd://{$i d}"), ("skd://{{$id}}", "skd://{movie}"),
        ("skd://${id}", "skd://${id}"), ("skd://{$nö}", "skd://{$nö}"), ("skd://{$empty}", "skd://"),
    ])
    func `exact references are replaced once, and the rest is text`(_ reference: String, _ text: String) throws {
        let definitions = [
            #"NAME="id",VALUE="movie""#, #"VALUE="upper",NAME="ID""#, #"NAME="a-b_9",VALUE="{$id}""#,
            #"NAME="empty",VALUE="""#,
        ]
        #expect(try keyURI(definitions, reference) == text)
    }

    @Test func `quoted and hexadecimal values take references, others do not`() throws {
        let line = #"#EXT-X-KEY:METHOD={$m},URI="{$u}",IV=0x{$h},KEYFORMAT="{$f}",X-N={$u},KEYID=0x{$h}"#
        let playlist = try PlaylistText.media([
            #"#EXT-X-DEFINE:NAME="u",VALUE="skd://a""#, #"#EXT-X-DEFINE:NAME="h",VALUE="0F""#,
            #"#EXT-X-DEFINE:NAME="f",VALUE="com.apple.streamingkeydelivery""#, line,
        ])
        let tag = try #require(playlist.keyTags.first)
        #expect(tag.method == .other("{$m}"))
        #expect(tag.iv == "0x0F")
        #expect(tag.otherAttributes.map(\.value) == ["{$u}", "0x0F"])
        #expect(playlist.fairPlayURIs == ["skd://a"])
    }

    @Test(arguments: [
        #"#EXT-X-KEY:METHOD=SAMPLE-AES,URI="skd://{$no}""#, #"#EXT-X-KEY:METHOD=SAMPLE-AES,URI="a",IV={$no}"#,
        #"#EXT-X-MAP:URI="{$no}""#, #"#EXT-X-PART:DURATION=1,URI="{$no}""#, "seg-{$no}.m4s",
        #"#EXT-X-DATERANGE:ID="{$no}""#,
    ])
    func `an undefined variable is refused wherever it is used`(_ line: String) throws {
        let error = #expect(throws: PlaylistError.self) { try PlaylistText.media([line, PlaylistText.segment()]) }
        #expect(error?.code == "undefinedVariable")
        #expect(error?.summary == "undefined variable no")
        #expect(error?.line == 3)
    }

    @Test func `a definition applies only to the lines after it`() {
        let lines = [PlaylistText.key("skd://{$id}"), #"#EXT-X-DEFINE:NAME="id",VALUE="x""#]
        #expect(PlaylistText.code { try PlaylistText.media(lines) } == "undefinedVariable")
    }

    @Test(arguments: ["#A-COMMENT {$no}", "#EXT-X-UNKNOWN:A=\"{$no}\"", "#EXTINF:6,{$no}"])
    func `nothing is replaced in comments, unknown tags and titles`(_ line: String) throws {
        #expect(try PlaylistText.media([line, "s.m4s"]).segmentCount == 1)
    }

    @Test func `segments, maps and streams take references`() throws {
        let definition = #"#EXT-X-DEFINE:NAME="t",VALUE="?x=1""#
        let media = try PlaylistText.media([definition, #"#EXT-X-MAP:URI="i.mp4{$t}""#, PlaylistText.segment("s{$t}")])
        #expect(try media.segments().map(\.uri) == ["s?x=1"])
        #expect(try media.segments().map(\.map?.uri) == ["i.mp4?x=1"])
        let multivariant = try PlaylistText.multivariant([
            definition, #"#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a{$t}",NAME="n",URI="a{$t}""#,
            "#EXT-X-STREAM-INF:BANDWIDTH=1", "v{$t}",
        ])
        #expect(multivariant.streams.map(\.uri) == ["a?x=1", "v?x=1"])
        #expect(multivariant.variables == ["t": "?x=1"])
    }

    @Test func `a query parameter is the first of its name, as written`() throws {
        #expect(try keyURI([#"QUERYPARAM="tok""#], "skd://{$tok}") == "skd://a%2Fb")
    }

    @Test func `only an import takes the multivariant playlist's value`() throws {
        #expect(try keyURI([#"IMPORT="v""#], "skd://{$v}", imports: ["v": "7"]) == "skd://7")
        #expect(
            PlaylistText.code { try PlaylistText.media([PlaylistText.key("{$v}")], imports: ["v": "7"]) }
                == "undefinedVariable")
    }

    @Test(arguments: [
        (#"NAME="a",VALUE="1",IMPORT="b""#, "malformedDefinition"), (#"VALUE="1""#, "malformedDefinition"),
        (#"NAME="a""#, "malformedDefinition"), (#"NAME="",VALUE="1""#, "malformedDefinition"),
        (#"NAME="a b",VALUE="1""#, "malformedDefinition"), (#"NAME="{$id}",VALUE="1""#, "malformedDefinition"),
        (#"IMPORT="absent""#, "importNotFound"), (#"QUERYPARAM="absent""#, "queryParameterNotFound"),
        (#"QUERYPARAM="empty""#, "queryParameterNotFound"), (#"QUERYPARAM="flag""#, "queryParameterNotFound"),
        (#"QUERYPARAM="frag""#, "queryParameterNotFound"), (#"NAME="id",VALUE="again""#, "duplicateDefinition"),
        (#"IMPORT="id""#, "duplicateDefinition"),
    ])
    func `a bad definition is refused`(_ definition: String, _ code: String) {
        let lines = [#"#EXT-X-DEFINE:NAME="id",VALUE="movie""#, "#EXT-X-DEFINE:\(definition)"]
        #expect(
            PlaylistText.code { try PlaylistText.media(lines, uri: Self.uri, imports: ["id": "i", "v": "7"]) } == code)
    }

    @Test func `a multivariant playlist may not import`() {
        let lines = ["#EXTM3U", #"#EXT-X-DEFINE:IMPORT="v""#, #"#EXT-X-SESSION-DATA:DATA-ID="a""#]
        let context = PlaylistContext(imports: ["v": "7"])
        #expect(PlaylistText.code { try PlaylistText.read(lines, context) } == "importInMultivariant")
    }

    @Test func `an error never shows a variable's value`() throws {
        let lines = [#"#EXT-X-DEFINE:NAME="t",VALUE="s3cret""#, #"#EXT-X-KEY:METHOD=SAMPLE-AES,URI="k",IV="{$t}""#]
        let error = #expect(throws: PlaylistError.self) { try PlaylistText.media(lines) }
        #expect(error.map { "\($0)".contains("s3cret") } == false)
    }
}
