import Foundation
import LatchkeyCore
import LatchkeyVendors
import Testing

@testable import Latchkey

@Suite struct ViewerMessageTests {
    private static func error(_ kind: ContentKeyError.Kind) -> ContentKeyError {
        ContentKeyError(kind, "The service answered 403, code geo.", remedy: "Ask the vendor.")
    }

    @Test(arguments: [
        (ContentKeyError.Kind.unauthenticated, ViewerMessage.signIn), (.forbidden, .notIncluded),
        (.regionDenied, .notInRegion), (.concurrencyLimit, .tooManyStreams), (.notYetValid, .notYet),
        (.offline, .offline), (.timedOut, .unreachable), (.hostNotFound, .unreachable), (.rateLimited, .busy),
        (.leaseEnded, .interrupted), (.playerUnsupported, .unsupportedDevice), (.missingSetting, .unavailable),
        (.init(rawValue: "of an app's own"), .unavailable),
    ])
    func `each kind has words for the viewer`(kind: ContentKeyError.Kind, message: ViewerMessage) {
        #expect(Self.error(kind).viewerMessage == message)
        #expect(OfflineError(kind, "The store is full.").viewerMessage == message)
    }

    @Test func `a viewer who cancelled sees no message`() { #expect(ContentKeyError.cancelled.viewerMessage == nil) }

    @Test(arguments: ViewerMessage.allCases)
    func `the words are two short sentences without jargon, and the second says what to do`(message: ViewerMessage) {
        let jargon = ["license", "token", "DRM", "server", "HTTP", "key", "CKC", "SPC", "certificate", "error", "code"]
        let sentences = message.text.split(separator: ".")
        #expect(sentences.count == 2 && message.text.hasSuffix(".") && message.text.count <= 100)
        #expect(!jargon.contains { message.text.localizedCaseInsensitiveContains($0) })
    }

    @Test func `an app's own words replace the English ones`() throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "latchkey-\(UUID().uuidString).bundle")
        defer { try? FileManager.default.removeItem(at: folder) }
        let text = "\"latchkey.viewer.signIn\" = \"Bitte neu anmelden.\";\n"
        for place in ["", "Resources", "Contents/Resources"] {
            let strings = folder.appending(path: place)
            try FileManager.default.createDirectory(at: strings, withIntermediateDirectories: true)
            try Data(text.utf8).write(to: strings.appending(path: "Words.strings"))
        }
        let bundle = try #require(Bundle(path: folder.path))
        #expect(ViewerMessage.signIn.key == "latchkey.viewer.signIn")
        #expect(ViewerMessage.signIn.localized(in: bundle, table: "Words") == "Bitte neu anmelden.")
        #expect(ViewerMessage.busy.localized(in: bundle, table: "Words") == ViewerMessage.busy.text)
    }
}
