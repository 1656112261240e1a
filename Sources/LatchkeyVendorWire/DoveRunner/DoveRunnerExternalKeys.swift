import Foundation
import LatchkeyCore
package import LatchkeyDecision
import LatchkeyForms

/// The keys that a token states for its content. They are compared with the server's, and never licensed.
///
/// Source: the vendor's License Token Guide, version 2, `external_key`: https://github.com/daniel-inka/pallycon-docs-v3 at 184b3b7, read on
/// 2026-11-23.
package struct DoveRunnerExternalKeys: Sendable {
    private let keys: [(classes: Set<TrackClass>, key: ContentKey)]

    /// - Parameter policy: the decrypted policy; keys of other systems than FairPlay in it do not matter.
    /// - Throws: `tokenMalformed` for keys of another form.
    init(_ policy: JSONValue?) throws(LicenseRefusal) {
        var keys: [(classes: Set<TrackClass>, key: ContentKey)] = []
        if let value = policy?["external_key"] {
            let external = try RuleObject(value, at: "external_key", known: ["hls_aes", "mpeg_cenc", "ncg"])
            for (value, place) in try external.entries("hls_aes") {
                let entry = try RuleObject(value, at: place, known: ["track_type", "key_id", "key", "iv"])
                let classes = try entry.word("track_type", DoveRunnerToken.trackTypes)
                let key = try entry.value("key", "32 hexadecimal digits", Self.bytes)
                let iv = try entry.value("iv", "32 hexadecimal digits", Self.bytes)
                guard let classes, let key, let iv, let content = ContentKey(key: key, iv: iv) else {
                    throw .unknownRule(place, "lacks one of track_type, key, iv")
                }
                keys.append((classes, content))
            }
        }
        self.keys = keys
    }

    /// Why the server's key differs from the token's; `nil` if it does not, and for a token without keys.
    package func objection(to key: VendorKey) -> LicenseRefusal? {
        let isKnown = keys.contains { $0.classes.contains(key.facts.track) && $0.key == key.content }
        guard !keys.isEmpty, !isKnown else { return nil }
        return LicenseRefusal(
            .contentMismatch, reason: "The token's “external_key.hls_aes” does not have the server's key.",
            remedy: "Import the content's keys, such as by CPIX: keys are never taken from tokens.")
    }

    private static func bytes(_ value: JSONValue) -> Secret? {
        value.text.flatMap { Data(hexString: $0) }.flatMap { $0.count == 16 ? Secret($0) : nil }
    }
}

extension DoveRunnerToken {
    /// The keys that the token brings.
    /// - Throws: `tokenMalformed` for keys of another form.
    package func externalKeys() throws(LicenseRefusal) -> DoveRunnerExternalKeys {
        try DoveRunnerExternalKeys(wholePolicy)
    }
}
