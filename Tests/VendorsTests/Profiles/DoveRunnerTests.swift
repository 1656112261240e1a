import Foundation
import LatchkeyCore
import LatchkeyVendors
import Testing

@Suite struct DoveRunnerTests {
    private static let token = "eyJkcm1fdHlwZSI6IkZhaXJQbGF5In0="
    private let header: ProfileOnPaper
    private let query: ProfileOnPaper

    init() throws {
        header = try ProfileOnPaper(.doveRunner, ["siteId": "DEMO"], token: Self.token)
        query = try ProfileOnPaper(.doveRunnerQuery, ["siteId": "DEMO"], token: Self.token)
    }

    @Test(arguments: [
        ("skd://movie-1", "movie-1"), ("skd://Movie 1/a?b=c", "Movie 1/a?b=c"),
    ])
    func `everything behind the scheme names the key`(uri: String, identifier: String) throws {
        #expect(try header.identifier(.init(uri)) == identifier)
        #expect(try query.identifier(.init(uri)) == identifier)
    }

    @Test(arguments: [
        (nil, "https://license-global.pallycon.com/ri/fpsKeyManager.do?siteId=DEMO"),
        (
            "https://license-global.pallycon.com/ri/fpsCert.do",
            "https://license-global.pallycon.com/ri/fpsCert.do?siteId=DEMO"
        ),
        ("https://h/ri/fpsCert.do?siteId=MINE", "https://h/ri/fpsCert.do?siteId=MINE"),
    ])
    func `the certificate is asked for with the site id and without the token`(setting: String?, url: String)
        async throws
    {
        let settings = ["siteId": "DEMO"].merging(setting.map { ["certificateURL": $0] } ?? [:]) { $1 }
        let profile = try ProfileOnPaper(.doveRunner, settings, token: Self.token)
        #expect(try await profile.certificateRequest() == .get(url))
    }

    @Test func `the token travels in a header`() async throws {
        #expect(
            try await header.licenseRequest("skd://movie-1")
                == .post(
                    "https://license-global.pallycon.com/ri/licenseManager.do",
                    [
                        "Content-Type": "application/x-www-form-urlencoded",
                        "pallycon-customdata-v2": "eyJkcm1fdHlwZSI6IkZhaXJQbGF5In0=",
                    ],
                    "spc=%2B%2B%2F%2FAA%3D%3D"))
    }

    @Test func `the token travels in the query`() async throws {
        #expect(
            try await query.licenseRequest("skd://movie-1")
                == .post(
                    "https://license-global.pallycon.com/ri/licenseManager.do"
                        + "?pallycon-customdata-v2=eyJkcm1fdHlwZSI6IkZhaXJQbGF5In0%3D",
                    ["Content-Type": "application/x-www-form-urlencoded"], "spc=%2B%2B%2F%2FAA%3D%3D"))
    }

    @Test func `a certificate comes in base64 or in DER`() throws {
        #expect(try header.certificate(200, Data("MIECBQA=\n".utf8)) == ProfileOnPaper.certificate)
        #expect(try header.certificate(200, ProfileOnPaper.certificate) == ProfileOnPaper.certificate)
    }

    @Test func `a license comes in base64`() throws {
        let body = ProfileOnPaper.ckc.base64EncodedString()
        #expect(try header.license(200, body).ckc.revealed == ProfileOnPaper.ckc)
        #expect(try query.license(200, body + "\r\n").ckc.revealed == ProfileOnPaper.ckc)
    }

    @Test func `a certificate's refusal has status 200`() throws {
        let error = try #require(throws: IntegrationError.self) {
            try header.certificate(200, Data(#"{"errorCode":"1003","message":"site unknown"}"#.utf8))
        }
        #expect(error.kind == .notFound)
        #expect(error.service == ServiceReply(status: 200, code: "1003", message: "site unknown"))
    }

    @Test(arguments: [
        ("7001", IntegrationError.Kind.notFound), ("7009", .unauthenticated), ("7011", .unauthenticated),
        ("7012", .forbidden), ("7016", .unauthenticated), ("7018", .forbidden), ("7019", .unauthenticated),
        ("7301", .notFound), ("7304", .serverTransient), ("7305", .invalidRequest), ("7308", .invalidRequest),
        ("7316", .invalidRequest), ("7317", .invalidRequest), ("8710", .forbidden), ("8711", .forbidden),
        ("9001", .invalidRequest), ("9999", .invalidRequest), ("4242", .forbidden),
    ])
    func `a license's refusal has status 200 and a code`(code: String, kind: IntegrationError.Kind) throws {
        let error = try #require(throws: IntegrationError.self) {
            try header.license(200, #"{"errorCode":"\#(code)","message":"no"}"#)
        }
        #expect(error.kind == kind)
        #expect(error.service?.code == code)
        #expect(error.isRetryable == (kind == .serverTransient))
    }

    @Test func `code 8002 has its words in a document of its own`() throws {
        let error = try #require(throws: IntegrationError.self) {
            try header.license(200, #"{"errorCode":"8002","message":"{\"ERROR\":\"17\",\"MESSAGE\":\"no rights\"}"}"#)
        }
        #expect(error.service == ServiceReply(status: 200, code: "8002", message: "no rights"))
    }

    @Test func `the custom reply form is an error that names JSON`() throws {
        let error = try #require(throws: IntegrationError.self) { try header.license(200, #"{"device":{}}"#) }
        #expect(error.kind == .licenseMalformed)
        #expect(error.reason.contains("JSON"))
    }

    @Test func `without a site id nothing is asked`() async throws {
        let profile = try ProfileOnPaper(.doveRunner, [:], token: Self.token)
        let error = try await #require(throws: IntegrationError.self) { try await profile.certificateRequest() }
        #expect(error.kind == .missingSetting)
    }

    @Test func `the token shows in no request`() {
        let redaction = query.profile.redaction
        let url = redaction.redacted(urlText: "https://h/?pallycon-customdata-v2=s3cr3t")
        #expect(!url.contains("s3cr3t"))
        #expect(redaction.isSecret(header: "pallycon-customdata-v2"))
    }
}
