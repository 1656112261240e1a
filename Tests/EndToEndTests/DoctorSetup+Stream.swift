import Foundation
import LatchkeyCore
import LatchkeyMedia
import LatchkeyServices
import LatchkeySimulation
import LatchkeyVendors

// Faults of a stream: playlists, key tags, content identifiers, keys, IVs, segments.
extension DoctorSetup {
    static let playlists = [
        DoctorSetup("the playlist is not there", "httpStatus") {
            $0.playlist = "\($0.live.address)/media/vudrm/none/master.m3u8"
        },
        DoctorSetup("the playlist's address gives a web page", "missingHeader") { stage in
            try stage.rewritePlaylists { _, _ in "<!DOCTYPE html><html><body>Sign in</body></html>" }
        },
        DoctorSetup("a media playlist of the stream is missing", "resourceMissing") { stage in
            try stage.rewritePlaylists { $0 == "video.m3u8" ? nil : $1 }
        },
        DoctorSetup("a key tag's quotation mark is not closed", "malformedAttributes") { stage in
            try stage.rewritePlaylists {
                $1.replacing("KEYFORMAT=\"com.apple.streamingkeydelivery\"", with: "KEYFORMAT=\"com")
            }
        },
        DoctorSetup("the stream is not encrypted", "noFairPlayKey", silent: true) { stage in
            try stage.rewritePlaylists { name, text in
                text.split(separator: "\n").filter { !$0.contains("KEY:") }.joined(separator: "\n") + "\n"
            }
        },
    ]

    static let keyTags = [
        DoctorSetup("the KEYFORMAT is misspelled", "keyFormatMisspelled", silent: true) { stage in
            try stage.rewritePlaylists { $1.replacing("streamingkeydelivery", with: "streamingkeydelivry") }
        },
        DoctorSetup("the key tags have no KEYFORMAT", "keyFormatMissing", silent: true) { stage in
            try stage.rewritePlaylists {
                $1.replacing(",KEYFORMATVERSIONS=\"1\",KEYFORMAT=\"com.apple.streamingkeydelivery\"", with: "")
            }
        },
        DoctorSetup("the METHOD is SAMPLE-AES-CTR", "sampleAESCTR", silent: true) { stage in
            try stage.rewritePlaylists { $1.replacing("METHOD=SAMPLE-AES,", with: "METHOD=SAMPLE-AES-CTR,") }
        },
        DoctorSetup("the METHOD is one that nobody knows", "unknownMethod", silent: true) { stage in
            try stage.rewritePlaylists { $1.replacing("METHOD=SAMPLE-AES,", with: "METHOD=SAMPLE-XYZ,") }
        },
        DoctorSetup("a session key opens no segment", "keyOpensNothing") { stage in
            let key = stage.service.environment.authority.keys.keys[1]
            let host = stage.live.address.split(separator: "://").last.map(String.init) ?? ""
            let tag =
                "#EXT-X-SESSION-KEY:METHOD=SAMPLE-AES,URI=\"\(stage.service.keyURI(for: key, at: host))\",KEYFORMATVERSIONS=\"1\",KEYFORMAT=\"com.apple.streamingkeydelivery\"\n#EXT-X-STREAM-INF"
            try stage.rewritePlaylists { $1.replacing("#EXT-X-STREAM-INF", with: tag, maxReplacements: 1) }
        },
    ]

    static let identifiers = [
        DoctorSetup("two keys have one content identifier", "identifiersNotDistinct", .expressPlay, .twoKeys),
        DoctorSetup(
            "the key URI has nothing where the profile looks for the content id", "contentIdentifierMissing",
            silent: true,
            .verimatrix
        ) { stage in
            try stage.rewritePlaylists { $1.replacing(#/URI="skd[^"]*"/#, with: "URI=\"skd://\"") }
        },
        DoctorSetup("the service does not have the stream's key", "notFound") { stage in
            try stage.rewritePlaylists { $1.replacing(#/license/[A-Za-z0-9]+"/#, with: "license/unknown\"") }
        },
        DoctorSetup(
            "the app has VuDRM's profile for a DRMtoday stream", "otherProfileFits", words: ["--vendor drmtoday"]
        ) { stage in
            stage.playlist = stage.live.playlist(.transportStream, for: .drmToday)
        },
        DoctorSetup("the app has Azure's profile for an EZDRM stream", "otherProfileFits", words: ["ezdrm"], .azure) {
            stage in
            stage.playlist = stage.live.playlist(.transportStream, for: .ezdrm)
        },
    ]

    static let keysAndIVs = [
        DoctorSetup(
            "the license has another content key than the packager's fMP4", "wrongKey", .vuDRM, .twoKeys,
            keys: LiveServices.wrongKeys),
        DoctorSetup(
            "the license has another content key than the packager's transport stream", "wrongKeyOrIV",
            keys: LiveServices.wrongKeys),
        DoctorSetup(
            "the license has another IV than the packager's fMP4", "wrongIV", .vuDRM, .twoKeys,
            keys: LiveServices.wrongIVs),
        DoctorSetup(
            "the license has another IV than the packager's transport stream", "wrongKeyOrIV",
            keys: LiveServices.wrongIVs),
        DoctorSetup(
            "the second of two rotated keys is wrong", "wrongKey", .vuDRM, .rotation,
            keys: { try LiveServices.wrongKeys { $0.uri.raw.contains("scLT5") } }),
    ]

    static let segments = [
        DoctorSetup("the first segment is missing", "segmentUnreadable") { try $0.rewriteMedia("v/1.ts") { _ in nil } },
        DoctorSetup("the first segment is a web page", "segmentUnreadable") {
            try $0.rewriteMedia("v/1.ts") { _ in Data("<html><body>403 Forbidden</body></html>".utf8) }
        },
        DoctorSetup("the media is encrypted with cenc", "wrongScheme", .vuDRM, .twoKeys) {
            try $0.rewriteMedia("v/init.mp4") { Data($0.replacing(Data("cbcs".utf8), with: Data("cenc".utf8))) }
        },
        DoctorSetup("the media is not encrypted though the playlist says so", "notEncrypted", .vuDRM, .twoKeys) {
            try $0.rewriteMedia("v/init.mp4") { Data($0.replacing(Data("encv".utf8), with: Data("avc1".utf8))) }
        },
    ]
}

extension LiveServices {
    /// The demo asset's keys, with every bit of some content keys inverted.
    static func wrongKeys(_ isWrong: (StoredKey) -> Bool) throws -> ContentKeyStore {
        try changedKeys { stored in
            guard isWrong(stored) else { return stored.content }
            return ContentKey(key: Secret(stored.content.key.revealed.map { ~$0 }), iv: stored.content.iv)
        }
    }

    /// The demo asset's keys, with every bit of each IV inverted.
    @Sendable static func wrongIVs() throws -> ContentKeyStore {
        try changedKeys { ContentKey(key: $0.content.key, iv: Secret($0.content.iv.revealed.map { ~$0 })) }
    }

    private static func changedKeys(_ change: (StoredKey) -> ContentKey?) throws -> ContentKeyStore {
        ContentKeyStore(
            try demoKeys().keys.compactMap { stored in
                change(stored).map { StoredKey(uri: stored.uri, id: stored.id, content: $0) }
            })
    }
}
