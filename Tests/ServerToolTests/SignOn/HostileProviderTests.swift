import Foundation
import Testing

@testable import LatchkeyHTTP
@testable import LatchkeyServer
@testable import TestServers

/// A provider that breaks the rules, and browsers that bring foreign codes: every sign-in fails.
@Suite(.timeLimit(.minutes(5))) struct HostileProviderTests {
    /// The outcome of each fault: the page's code.
    private static let table: [(StandInProvider.Fault, String)] = [
        (.otherIssuerInDocument, "signOnProvider"), (.plainAuthorization, "signOnProvider"),
        (.noS256, "signOnProvider"), (.documentIsNoJSON, "signOnProvider"), (.hugeDocument, "signOnAway"),
        (.documentIsGone, "signOnAway"), (.otherIssuerInAnswer, "signOnProvider"),
        (.noIssuerInAnswer, "signOnProvider"), (.codeOfAnotherSession, "signOnDeclined"),
        (.declined, "signOnDeclined"), (.scriptAsError, "signOnDeclined"), (.tokenRedirects, "signOnProvider"),
        (.noIDToken, "signOnProvider"), (.hugeToken, "signOnAway"), (.tokenIsNoJSON, "signOnProvider"),
        (.tokenFails, "signOnProvider"), (.otherIssuer, "signOnToken"), (.otherAudience, "signOnToken"),
        (.noAudience, "signOnToken"), (.severalAudiences, "signOnToken"), (.otherParty, "signOnToken"),
        (.otherNonce, "signOnToken"), (.noNonce, "signOnToken"), (.noAlgorithm, "signOnToken"),
        (.publicKeyAsSecret, "signOnToken"), (.otherAlgorithm, "signOnToken"), (.otherKey, "signOnToken"),
        (.brokenSignature, "signOnToken"), (.keyInHeader, "signOnToken"), (.expired, "signOnToken"),
        (.issuedLater, "signOnToken"), (.noIssueTime, "signOnToken"), (.noSubject, "signOnToken"),
        (.subjectIsNumber, "signOnToken"), (.livesForDays, "signOnToken"), (.secretInKeySet, "signOnAway"),
        (.hugeKeySet, "signOnAway"), (.keySetIsGone, "signOnAway"),
    ]

    @Test(arguments: table)
    func `a misbehaving provider signs in no one`(
        _ fault: StandInProvider.Fault, _ code: String
    ) async throws {
        let stage = try await SignOnStage()
        // Another person's sign-in, whose code is not used yet.
        _ = try await stage.browser().begin()
        stage.time.advance(by: .seconds(11))
        stage.provider.fault = fault
        let browser = stage.browser()
        let reply = try await browser.signIn()
        #expect(reply.text.contains("<code>\(code)</code>"), "\(fault): \(reply.status) \(reply.text.suffix(600))")
        #expect((400...599).contains(reply.status))
        #expect(!reply.text.contains("<script"))
        #expect(!browser.jar.keys.contains("__Host-latchkey-session"))
        #expect(try await browser.admin("me").status == 401)
        #expect(try await stage.audit().allSatisfy { $0.hasPrefix("adminRefused address:127.0.0.1") })
        #expect(try await stage.audit().contains("adminRefused address:127.0.0.1 \(code)"))
        // The same browser with a correct provider, to prove that only the fault was the reason.
        stage.provider.fault = .none
        stage.time.advance(by: .seconds(601))
        #expect(try await browser.signIn().status == 303)
        #expect(try await browser.admin("me").status == 200)
    }

    @Test func `each fault of the stand-in has a row`() {
        let rest = Set(StandInProvider.Fault.allCases).subtracting(Self.table.map(\.0))
        #expect(rest == [.none, .tokenElsewhere])
    }

    @Test func `a provider that hangs gets ten seconds, for its document and at its token endpoint`() async throws {
        let hung = try LoopbackServer { _, _ in .hang }
        let stage = try await SignOnStage(["issuer": #""https://127.0.0.1:\#(hung.port)""#])
        async let reply = stage.browser().signIn()
        await stage.time.untilSomeoneSleeps(for: .seconds(10))
        stage.time.advance(by: .seconds(10))
        let page = try await reply.text
        #expect(page.contains("<code>signOnAway</code>"))
        let other = try await SignOnStage()
        other.provider.tokenAddress = "https://127.0.0.1:\(hung.port)/token"
        let browser = other.browser()
        let back = try #require(try await browser.begin().back)
        async let second = browser.ask(back)
        await other.time.untilSomeoneSleeps(for: .seconds(10))
        other.time.advance(by: .seconds(10))
        let last = try await second.text
        #expect(last.contains("<code>signOnAway</code>"))
    }

    @Test func `a provider with an untrusted certificate is refused`() async throws {
        let stage = try await SignOnStage(["authorities": ""])
        let reply = try await stage.browser().signIn()
        #expect(reply.status == 503)
        #expect(reply.text.contains("<code>signOnAway</code>"))
        #expect(stage.provider.requests == [])
    }

    @Test func `a sign-in ends once, in the browser where it began, within ten minutes`() async throws {
        let stage = try await SignOnStage()
        let (browser, other) = (stage.browser(), stage.browser())
        let back = try #require(try await browser.begin().back)
        let kept = browser.jar
        // Another person's browser, without its own sign-in and with one.
        #expect(try await other.ask(back).text.contains("<code>signOnState</code>"))
        _ = try await other.begin()
        #expect(try await other.ask(back).text.contains("<code>signOnState</code>"))
        #expect(other.jar.isEmpty || !other.jar.keys.contains("__Host-latchkey-session"))
        #expect(try await browser.ask(back).status == 303)
        // The same answer again, with the cookie that the browser was asked to forget.
        browser.jar = kept
        #expect(try await browser.ask(back).text.contains("<code>signOnState</code>"))
        let late = stage.browser()
        let answer = try #require(try await late.begin().back)
        stage.time.advance(by: .seconds(601))
        #expect(try await late.ask(answer).text.contains("<code>signOnState</code>"))
    }

    @Test func `an answer without a valid sign-in does not block the right one`() async throws {
        let stage = try await SignOnStage()
        let browser = stage.browser()
        let back = try #require(try await browser.begin().back)
        for (wrong, code) in [
            (back.replacing("&code=code-0", with: ""), "signOnState"),
            (back.replacing("&code=code-0", with: "&error=access_denied"), "signOnDeclined"),
            (back.replacing("&iss=", with: "&iss=x"), "signOnProvider"),
        ] {
            #expect(wrong != back)
            #expect(try await browser.ask(wrong).text.contains("<code>\(code)</code>"), "\(wrong)")
        }
        #expect(try await browser.ask(back).status == 303)
    }

    @Test(arguments: ["&state=another", "&code=another", "&iss=https%3A%2F%2Fevil.example"])
    func `an answer with a duplicate is refused`(_ more: String) async throws {
        let stage = try await SignOnStage()
        let browser = stage.browser()
        let back = try #require(try await browser.begin().back)
        #expect(try await browser.ask(back + more).text.contains("<code>signOnState</code>"))
    }

    @Test(arguments: [
        ("/sign-in/openid?redirect_uri=https%3A%2F%2Fevil.example&next=https%3A%2F%2Fevil.example", [:]),
        ("/sign-in/openid", ["Host": "evil.example", "X-Forwarded-Host": "evil.example", "X-Forwarded-Proto": "http"]),
        ("/sign-in/openid", ["Referer": "https://evil.example/", "Origin": "https://evil.example"]),
    ])
    func `a redirect never leads outside the console`(_ path: String, _ headers: [String: String]) async throws {
        let stage = try await SignOnStage()
        let browser = stage.browser()
        let begun = try await browser.ask(path, headers: headers)
        let there = try #require(begun.header("Location"))
        #expect(there.hasPrefix("\(stage.provider.issuer)/authorize?"))
        #expect(there.contains("redirect_uri=https%3A%2F%2Fconsole.example%2Fsign-in%2Fcallback&"))
        #expect(!there.contains("evil"))
        let back = try #require(try await browser.ask(there).header("Location"))
        let signedIn = try await browser.ask(back, headers: headers)
        #expect(signedIn.header("Location") == "/")
    }

    @Test func `cookies that the server did not make, or made for another use, are refused`() async throws {
        let stage = try await SignOnStage()
        let browser = stage.browser()
        _ = try await browser.begin()
        let flow = try #require(browser.jar["__Host-latchkey-sign-in"])
        #expect(try await browser.signIn().status == 303)
        let session = try #require(browser.jar["__Host-latchkey-session"])
        let parts = session.split(separator: ".").map(String.init)
        let claims = #"{"end":9999999999,"id":"a","subject":"eve","name":"Eve","values":["video-operators"]}"#
        let own = Base64URL.text(Array(claims.utf8))
        for forged in [
            flow, "", ".", "\(own).\(parts[1])", "\(parts[0]).", "\(parts[0]).\(parts[1].dropLast())",
            "\(parts[0]).\(String(parts[1].reversed()))", String(repeating: "a", count: 8_000),
        ] {
            browser.jar = ["__Host-latchkey-session": forged]
            #expect(try await browser.admin("me").status == 401, "\(forged.prefix(40))")
        }
        // The name without the prefix, which another host of the domain could set.
        browser.jar = ["latchkey-session": session]
        #expect(try await browser.admin("me").status == 401)
        browser.jar = ["__Host-latchkey-session": session]
        #expect(try await browser.admin("me").status == 200)
    }
}
