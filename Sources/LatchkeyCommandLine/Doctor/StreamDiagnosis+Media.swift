import Foundation
import Latchkey
import LatchkeyCore
import LatchkeyPlayback
import LatchkeySimulation
import LatchkeyTerminal

// The first sample of each key, decrypted: a wrong key or IV comes with a license as good as any.
extension StreamDiagnosis {
    /// - Parameter keys: the content keys that the device got.
    func media(of stream: Stream, with keys: [KeyURI: ContentKey], _ web: WebResources) async -> [Checkup] {
        guard !keys.isEmpty else { return [] }
        let ffmpeg: FFmpeg
        do { ffmpeg = try FFmpeg(deadline: .seconds(60)) } catch {
            return [.skipped(.media, "Key and IV were not tried: \(Failure(error).reason)", Failure(error).remedy)]
        }
        let folder = FileManager.default.temporaryDirectory.appending(path: "latchkey-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        var checks: [Checkup] = []
        for (index, key) in stream.keys.enumerated() {
            guard let content = keys[key] else { continue }
            let place = folder.appending(path: "\(index)")
            checks += await sample(of: key, content, in: stream, ffmpeg, StreamDownload(web), place)
            try? FileManager.default.removeItem(at: place)
        }
        return checks
    }

    private func sample(
        of key: KeyURI, _ content: ContentKey, in stream: Stream, _ ffmpeg: FFmpeg, _ download: StreamDownload,
        _ folder: URL
    ) async -> [Checkup] {
        do {
            guard let sample = try await download.sample(of: key, in: stream.playlists, into: folder) else {
                return [keyOpensNothing(key)]
            }
            if let wrong = packagingFault(of: sample, content) { return [wrong] }
            return [check(try await StreamPlayer(ffmpeg).verdict(on: sample, with: content), of: sample)]
        } catch {
            return [segmentUnreadable(key, Failure(error))]
        }
    }

    func keyOpensNothing(_ key: KeyURI) -> Checkup {
        .warning(
            .media, "keyOpensNothing", "\(shown(key)): no segment of the stream uses the key.",
            "Check EXT-X-SESSION-KEY against the EXT-X-KEY tags of the media playlists.")
    }

    func segmentUnreadable(_ key: KeyURI, _ failure: Failure) -> Checkup {
        .error(
            .media, "segmentUnreadable", "\(shown(key)): its first segment cannot be tried. \(failure.reason)",
            failure.remedy)
    }

    /// What the boxes of fragmented MP4 tell before anything is decrypted.
    /// - Parameter content: the key that came with the license; `nil` if nobody can open it.
    func packagingFault(of sample: KeySample, _ content: ContentKey?) -> Checkup? {
        guard let protection = sample.protection else { return nil }
        let name = shown(sample.uri)
        guard let scheme = protection.scheme else {
            return .error(
                .media, "notEncrypted",
                "\(name): the playlist says encrypted, and the init section has no encrypted track.",
                "Package the stream again, or take the EXT-X-KEY tag away.")
        }
        guard scheme == "cbcs" else {
            return .error(
                .media, "wrongScheme", "\(name): the media is encrypted with \(quoted(scheme)); FairPlay opens cbcs.",
                "Have the packager encrypt with cbcs.")
        }
        guard let content, let iv = protection.constantIV, iv.count == 16, iv != content.iv.revealed,
            iv.contains(where: { $0 != 0 })
        else { return nil }
        return .error(
            .media, "wrongIV", "\(name): the license has another IV than the media.",
            "Give the packager's IV to the license service, or package the stream with the service's.")
    }

    private func check(_ verdict: KeySampleVerdict, of sample: KeySample) -> Checkup {
        let name = shown(sample.uri)
        switch verdict {
        case .right: return .ok(.media, "\(name): its first segment decrypts and decodes")
        case .undecidable(let codec):
            return .skipped(
                .media, "\(name): this machine has no decoder for \(quoted(codec)), so the key was not tried")
        case .wrong(let complaint):
            let said = complaint.map { " ffmpeg: \($0.prefix(160))" } ?? ""
            // The container states the IV, and it is the license's: the key alone is left. A transport stream states none.
            let isKey = sample.protection?.constantIV != nil
            return .error(
                .media, isKey ? "wrongKey" : "wrongKeyOrIV",
                "\(name): a license came, and its \(isKey ? "content key" : "content key or IV") does not open the media.\(said)",
                "Compare the key\(isKey ? "" : " and the IV") of packager and license service for this content id.")
        }
    }
}
