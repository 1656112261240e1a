import Foundation
import Latchkey
import LatchkeyCore
import LatchkeyVendors
import Testing

/// `ContentKeyError` as an `NSError`.
@Suite struct ContentKeyErrorBridgingTests {
    @Test func `an error keeps its domain, number, reason, remedy, stage and what the service said`() {
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

    @Test func `of the errors below only domains and numbers are taken over`() throws {
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

    @Test func `every code has a number of its own`() {
        let codes = IntegrationError.Kind.allCases.map(\.rawValue) + TransportError.Kind.allCases.map(\.rawValue)
        let loader: [ContentKeyError.Kind] = [
            .hostRefused, .insecureURL, .redirectRefused, .deadlineExceeded, .cancelled, .dropped, .spcFailed,
            .credentialsFailed, .integrationFailed, .certificateMissing, .leaseEnded, .playerDidNotRenew,
            .sessionEnded, .sessionNotRenewed, .persistableKeyFailed, .playerUnsupported, .keyUnnamed,
            .keyNotStorable, .downloadFailed,
        ]
        let offline: [OfflineError.Kind] = [
            .storeUnreadable, .storeUnwritable, .indexDamaged, .indexTooNew, .keyTooLarge, .tooManyAssets,
            .tooManyKeys, .noKeys, .keyNotRequested, .noStore, .renewalUnsupported,
        ]
        let kinds = loader + (codes + offline.map(\.rawValue)).map { ContentKeyError.Kind(rawValue: $0) }
        #expect(kinds.filter { $0.number == 1 }.isEmpty)
        #expect(Set(kinds.map(\.number)).count == Set(kinds).count)
        #expect(ContentKeyError.Kind(rawValue: "an app's own").number == 1)
    }
}
