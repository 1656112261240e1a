import Foundation
import LatchkeyCore
import LatchkeyForms
import LatchkeyTesting
import Testing

@_spi(Integrations) @testable import LatchkeyVendors

/// Vendors' codes: the page, the profile, and the error that an app gets.
@Suite(.timeLimit(.minutes(2))) struct DocumentedCodeTests {
    @Test(arguments: DocumentedPage.all) func `a profile knows exactly the codes of the page`(
        _ page: DocumentedPage
    ) throws {
        let rows = try page.rows
        #expect(rows.count >= 3)
        for stage in VendorProfile.RefusalStage.allCases {
            let stated = rows.filter { $0.stage == stage }.map(\.code)
            let known = page.profile.errors(at: stage)?.codes.keys.sorted() ?? []
            #expect(known == stated.sorted(), "\(stage)")
        }
    }

    /// Every code of every page, in the form that the page shows.
    @Test(arguments: DocumentedPage.all) func `a refusal says what the page says of its code`(_ page: DocumentedPage)
        throws
    {
        for row in try page.rows {
            let place = "\(page.name) \(row.testDescription)"
            let error = try #require(page.error(row), "\(place)")
            #expect(error.kind == row.kind, "\(place)")
            #expect(error.isRetryable == row.isRetryable, "\(place)")
            #expect(error.documented?.wantsNewCredentials == row.wantsNewCredentials, "\(place)")
            #expect(error.documented?.status == row.status, "\(place)")
            #expect(error.reason.hasSuffix(". \(row.meaning)"), "\(place): \(error.reason)")
            #expect(error.reason.contains("no rights") == page.hasWords, "\(place): \(error.reason)")
            #expect(error.service?.requestID == (page.hasRequestID ? "r-1" : nil), "\(place)")
            #expect(error.remedy.hasSuffix(".") && !error.remedy.dropLast().contains(". "), "\(place)")
        }
    }

    @Test(arguments: VendorProfile.all) func `every meaning and remedy is one sentence`(_ profile: VendorProfile) {
        for stage in VendorProfile.RefusalStage.allCases {
            for (code, found) in profile.errors(at: stage)?.codes ?? [:] {
                for text in [found.meaning, found.remedy].compactMap(\.self) {
                    #expect(text.hasSuffix(".") && !text.dropLast().contains(". "), "\(code): \(text)")
                    #expect(text.first?.isUppercase == true, "\(code): \(text)")
                }
            }
        }
    }

    @Test func `every row of the tables is read`() { #expect(VendorProfile.codeTables.flatMap(\.flaws) == []) }

    @Test func `a table row gives only differences from its kind, and each code once`() {
        let table = CodeTable(
            """
            17 | forbidden | The account is closed. | Open the account. | 403 | sameCredentials
            18 | serverTransient | It failed.
            18 | forbidden | Twice.
            19 | deadlineExceeded | No service says so.
            """)
        #expect(
            table.codes == [
                "17": DocumentedCode(
                    .forbidden, "The account is closed.", "Open the account.", status: 403, newCredentials: false),
                "18": DocumentedCode(.serverTransient, "It failed."),
            ])
        #expect(table.flaws.map(\.line) == [3, 4])
    }

    /// m16: a certificate that is not registered is not a wrong address.
    @Test func `a certificate's refusal has its code's remedy, or else its stage's`() throws {
        let wire = ProfileWire(.doveRunner)
        let known = #expect(throws: IntegrationError.self) {
            try wire.certificate(Data(#"{"errorCode":"7301","message":"no FairPlay"}"#.utf8))
        }
        #expect(known?.kind == .notFound)
        #expect(known?.remedy == "Register the FairPlay certificate for the site in DoveRunner's console.")
        let unknown = #expect(throws: IntegrationError.self) { try wire.certificate(Data(), status: 404) }
        #expect(unknown?.remedy == "Check the certificate's URL: there is none at this address.")
    }

    /// F5: one number, two stages.
    @Test func `a NAGRA number is read by its stage`() throws {
        let nagra = try #require(DocumentedPage.all.first { $0.name == "NAGRA" })
        let both = try nagra.rows.filter { $0.code == "4001" }
        #expect(both.map { nagra.error($0)?.kind } == [.serverTransient, .unauthenticated])
    }

    /// F10: the sentence contains the words of the entitlement's service.
    @Test func `a refused entitlement gives code, words, the request's id and the cause`() {
        let error = #expect(throws: IntegrationError.self) {
            try ProfileWire(.expressPlayEntitlement, key: "skd://h/?cid=c").lookup(
                #"{"messageID":"MESSAGE-ID","version":1,"isAllowed":false,"error":-4001,"errorText":"no device"}"#)
        }
        #expect(error?.kind == .forbidden)
        let said = #"The service says no ("isAllowed" is not true), code -4001, "no device" (request MESSAGE-ID)."#
        #expect(error?.reason == "\(said) The device could not be authenticated.")
        #expect(error?.remedy == "Register the device: play once with the setting requestType 2.")
    }

    private static let rules = ErrorRules(
        code: [.json("code")],
        codes: [
            "17": DocumentedCode(
                .forbidden, "The account is closed.", "Open the account.", status: 403, retry: true,
                newCredentials: false),
            "400": DocumentedCode(.rateLimited, "The quota is used up.", status: 429),
            "412": DocumentedCode(.serverTransient),
        ])

    private func error(_ body: String, status: Int) -> IntegrationError? {
        do throws(IntegrationError) {
            try Self.rules.check(HTTPReply(status: status, body: Data(body.utf8)))
            return nil
        } catch { return error }
    }

    @Test func `a code's own rule on retries and credentials overrides its kind's`() {
        let error = error(#"{"code":17}"#, status: 403)
        #expect(error?.reason == "The service answered 403, code 17. The account is closed.")
        #expect(error?.remedy == "Open the account.")
        #expect(error?.isRetryable == true && error?.documented?.wantsNewCredentials == false)
    }

    @Test func `a number that looks like a status is ignored, and a bare status has no meaning`() {
        #expect(error(#"{"code":400}"#, status: 429)?.kind == .rateLimited)
        #expect(error("no", status: 400)?.kind == .invalidRequest)
        #expect(error("no", status: 412)?.kind == .serverTransient)
        #expect(error("no", status: 412)?.documented == nil)
    }

    @Test func `codes survive JSON and leave out their kind's defaults`() throws {
        let text = """
            {"code":[{"json":"code"}],"codes":{"17":{"kind":"forbidden","meaning":"The account is closed.",\
            "newCredentials":false,"remedy":"Open the account.","retry":true,"status":403},"400":{"kind":\
            "rateLimited","meaning":"The quota is used up.","status":429}},"kinds":{"412":"serverTransient"}}
            """
        #expect(ErrorRules.form.write(Self.rules).canonicalText == text)
        #expect(try ErrorRules.form.decode(Array(text.utf8), code: "") == Self.rules)
    }

    @Test func `an old file with only kinds still reads the same`() throws {
        let json = Array(#"{"code":[{"json":"code"}],"kinds":{"17":"concurrencyLimit"}}"#.utf8)
        let rules = try ErrorRules.form.decode(json, code: "")
        #expect(rules.codes == ["17": DocumentedCode(.concurrencyLimit)])
        #expect(rules == ErrorRules(code: [.json("code")], kinds: ["17": .concurrencyLimit]))
    }
}
