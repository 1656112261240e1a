import Foundation
import LatchkeyCore
import LatchkeyVendors
import Testing

@testable import Latchkey

/// `ContentKeyError` as an `NSError`.
@Suite struct ContentKeyErrorBridgingTests {
    @Test func `an error keeps domain, number, reason, remedy, stage and service reply`() {
        let service = ServiceReply(status: 403, code: "E17", message: "No.", requestID: "r-1")
        let error = ContentKeyError(
            .init(rawValue: "forbidden"), stage: .license, "The service refused.", remedy: "Ask for rights.",
            service: service
        ).nsError
        #expect(error.domain == "Latchkey.ContentKeyError" && error.code == 210)
        #expect(error.localizedDescription == "The service refused.")
        #expect(error.userInfo[NSLocalizedRecoverySuggestionErrorKey] as? String == "Ask for rights.")
        #expect(error.userInfo[ContentKeyError.UserInfoKey.code] as? String == "forbidden")
        #expect(error.userInfo[ContentKeyError.UserInfoKey.stage] as? String == "license")
        #expect(error.userInfo[ContentKeyError.UserInfoKey.status] as? Int == 403)
        #expect(error.userInfo[ContentKeyError.UserInfoKey.vendorCode] as? String == "E17")
        #expect(error.userInfo[ContentKeyError.UserInfoKey.requestID] as? String == "r-1")
        #expect(error.userInfo[ContentKeyError.UserInfoKey.isRetryable] as? Bool == false)
    }

    @Test func `only domains and numbers of underlying errors are kept`() throws {
        let deepest = NSError(domain: "deep", code: 3, userInfo: [NSLocalizedDescriptionKey: "token=secret"])
        let below = NSError(
            domain: "app", code: 2, userInfo: [NSUnderlyingErrorKey: deepest, "Authorization": "Bearer secret"])
        let error = ContentKeyError(.spcFailed, "It failed.", remedy: "Look.", underlying: below).nsError
        #expect(FairPlayErrorExplanation.chain(of: error).map(\.code) == [106, 2, 3])
        #expect(
            FairPlayErrorExplanation.chain(of: error).map(\.domain) == [ContentKeyError.errorDomain, "app", "deep"])
        var text = ""
        dump(error.userInfo, to: &text)
        for error in FairPlayErrorExplanation.chain(of: error) { text += "\(error) \(error.userInfo)" }
        #expect(!text.contains("secret"))
    }

    @Test func `an error shown as any Error keeps its words and its number`() {
        let error: any Error = ContentKeyError(
            .forbidden, stage: .license, "The service refused.", remedy: "Ask for rights.")
        #expect(error.localizedDescription == "The service refused.")
        let bridged = error as NSError
        #expect(bridged.domain == "Latchkey.ContentKeyError" && bridged.code == 210)
        #expect(bridged.localizedRecoverySuggestion == "Ask for rights.")
        #expect((error as? any LocalizedError)?.recoverySuggestion == "Ask for rights.")
    }

    static let errors: [any DiagnosableError] = [
        IntegrationError(.forbidden, "No."), TransportError(.timedOut, "No."),
        OfflineError(.offlineAssetWithoutKeys, "No."),
        ProfileError(problems: [ProfileProblem(field: "$", reason: "It is not JSON.")]),
    ]

    @Test(arguments: errors)
    func `so does every other error`(error: any DiagnosableError) {
        let bridged = error as any Error as NSError
        #expect((error as any Error).localizedDescription == error.reason)
        #expect(bridged.domain == "Latchkey.\(type(of: error))" && bridged.code == error.errorCode && bridged.code > 1)
        #expect(bridged.localizedRecoverySuggestion == error.remedy)
        #expect(bridged.userInfo["LatchkeyCode"] as? String == error.code)
    }

    @Test func `an app spells a kind like a case`() {
        let error = ContentKeyError(IntegrationError(.unauthenticated, "No."), stage: .license, otherwise: .spcFailed)
        #expect(error.kind == .unauthenticated && error.kind != .forbidden)
        #expect(ContentKeyError(TransportError(.offline, "No."), otherwise: .spcFailed).kind == .offline)
        #expect(
            ContentKeyError(OfflineError(.keyStoreMissing, "No."), stage: .license).kind == .keyStoreMissing)
    }

    @Test func `an error survives JSON, without the underlying one`() throws {
        var error = ContentKeyError(
            .rateLimited, stage: .license, "Too many.", remedy: "Wait.", isRetryable: true,
            service: ServiceReply(status: 429, code: "E1", retryAfter: 2), underlying: CancellationError())
        error.attempts = 3
        let json = try JSONEncoder().encode(error)
        let read = try JSONDecoder().decode(ContentKeyError.self, from: json)
        #expect(read.kind == .rateLimited && read.stage == .license && read.attempts == 3 && read.isRetryable)
        #expect(read.reason == "Too many." && read.remedy == "Wait." && read.service == error.service)
        #expect(read.underlying == nil && !String(decoding: json, as: UTF8.self).contains("underlying"))
    }
}
