import Foundation
import LatchkeyCore
@_spi(Integrations) import LatchkeyVendors
import Testing

@Suite(.timeLimit(.minutes(5))) struct DoveRunnerTests {
    private static let token = "eyJkcm1fdHlwZSI6IkZhaXJQbGF5In0="
    private let header = ProfileWire(.doveRunner, token: token, ["siteId": "DEMO"])
    private let query = ProfileWire(.doveRunnerQuery, token: token, ["siteId": "DEMO"])

    @Test(
        arguments: [VendorProfile.doveRunner, .doveRunnerQuery],
        [("skd://movie-1" as KeyURI, "movie-1"), ("skd://Movie 1/a?b=c", "Movie 1/a?b=c")])
    func `everything behind the scheme names the key`(profile: VendorProfile, key: (KeyURI, String)) throws {
        #expect(try ProfileWire(profile, key: key.0).contentIdentifier() == key.1)
    }

    @Test(arguments: [
        (nil, "https://drm-license.doverunner.com/ri/fpsKeyManager.do?siteId=DEMO"),
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
        #expect(try await ProfileWire(.doveRunner, settings).certificateRequest() == "GET \(url)")
    }

    @Test func `the token travels in a header`() async throws {
        let expected = """
            POST https://drm-license.doverunner.com/ri/licenseManager.do
            content-type: application/x-www-form-urlencoded
            pallycon-customdata-v2: eyJkcm1fdHlwZSI6IkZhaXJQbGF5In0=

            spc=%2B%2F8AAQ%3D%3D
            """
        #expect(try await header.licenseRequest() == expected)
    }

    @Test func `the token travels in the query`() async throws {
        let expected = """
            POST https://drm-license.doverunner.com/ri/licenseManager.do\
            ?pallycon-customdata-v2=eyJkcm1fdHlwZSI6IkZhaXJQbGF5In0%3D
            content-type: application/x-www-form-urlencoded

            spc=%2B%2F8AAQ%3D%3D
            """
        #expect(try await query.licenseRequest() == expected)
    }

    @Test func `a certificate comes in base64 or in DER`() throws {
        #expect(
            try header.certificate(Data((ProfileWire.certificateText + "\n").utf8)) == ProfileWire.certificate)
        #expect(try header.certificate(ProfileWire.certificate) == ProfileWire.certificate)
    }

    /// Source: `Documentation/Vendors/DoveRunner.md`.
    @Test func `the present host and the older ones are the vendor's`() {
        let hosts = header.profile.unchecked.configuredURLs.compactMap(\.host)
        #expect(Set(hosts).isSuperset(of: ["drm-license.doverunner.com", "license-global.pallycon.com"]))
    }

    /// The tagged form: `Documentation/Vendors/DoveRunner.md`.
    @Test func `a license comes in base64, perhaps in its tag`() throws {
        #expect(try header.license("<ckc>\(ProfileWire.ckcText)</ckc>").ckc.revealed == ProfileWire.ckc)
        #expect(try header.license(ProfileWire.ckcText).ckc.revealed == ProfileWire.ckc)
        #expect(try query.license(ProfileWire.ckcText + "\r\n").ckc.revealed == ProfileWire.ckc)
    }

    @Test func `a certificate's refusal has status 200`() {
        let error = #expect(throws: IntegrationError.self) {
            try header.certificate(Data(#"{"errorCode":"1003","message":"site unknown"}"#.utf8))
        }
        #expect(error?.kind == .notFound)
        #expect(error?.service == ServiceReply(status: 200, code: "1003", message: "site unknown"))
    }

    @Test(arguments: [
        ("7001", Diagnosis.Kind.notFound), ("7009", .unauthenticated), ("7011", .unauthenticated),
        ("7012", .forbidden), ("7016", .unauthenticated), ("7018", .forbidden), ("7019", .unauthenticated),
        ("7301", .notFound), ("7304", .serverTransient), ("7305", .invalidRequest), ("7308", .invalidRequest),
        ("7316", .invalidRequest), ("7317", .invalidRequest), ("8710", .notYetValid), ("8711", .forbidden),
        ("9001", .invalidRequest), ("9999", .invalidRequest), ("4242", .forbidden),
    ])
    func `a license's refusal has status 200 and a code`(code: String, kind: Diagnosis.Kind) {
        let error = header.refusal(#"{"errorCode":"\#(code)","message":"no"}"#)
        #expect(error?.kind == kind)
        #expect(error?.service?.code == code)
        #expect(error?.isRetryable == (kind == .serverTransient))
    }

    @Test func `code 8002 has its message in a special document`() {
        let error = header.refusal(
            #"{"errorCode":"8002","message":"{\"ERROR\":\"17\",\"MESSAGE\":\"no rights\"}"}"#)
        #expect(error?.service == ServiceReply(status: 200, code: "8002", message: "no rights"))
    }

    @Test func `the custom reply form is an error that names JSON`() {
        let error = header.refusal(#"{"device":{}}"#)
        #expect(error?.kind == .licenseMalformed)
        #expect(error?.reason.contains("JSON") == true)
    }

    @Test func `without a site id nothing is asked`() async {
        let error = await #expect(throws: IntegrationError.self) {
            try await ProfileWire(.doveRunner).certificateRequest()
        }
        #expect(error?.kind == .missingSetting)
    }

    @Test func `the token shows in no request`() {
        let redaction = query.profile.redaction
        let url = redaction.redacted(urlText: "https://h/?pallycon-customdata-v2=s3cr3t")
        #expect(!url.contains("s3cr3t"))
        #expect(redaction.isSecret(header: "pallycon-customdata-v2"))
    }
}
