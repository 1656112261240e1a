import LatchkeyCore

/// Errors in downloading a stream, rewriting it or passing it to the decoder.
///
/// A wrong picture is not an error: it is a `PlaybackVerdict`.
extension Diagnosis {
    /// An address without the secrets that its query may carry, shortened for logs.
    static func redacted(_ address: String) -> String {
        String(Redaction.standard.redacted(urlText: address).prefix(300))
    }

    static func keyMissing(_ uri: KeyURI) -> Self {
        Self(
            code: "keyMissing",
            reason: "No content key was given for \(redacted(uri.raw)), which opens a part of the stream.",
            remedy: "Get a license for this key URI, or check that its spelling is that of the playlist.")
    }

    static func toolMissing(_ name: String) -> Self {
        Self(
            code: "toolMissing", reason: "The tool \(name) is in no folder of PATH.",
            remedy: "Install the package ffmpeg (Debian: apt-get install --no-install-recommends ffmpeg).")
    }

    static func toolFailed(_ what: String) -> Self {
        Self(
            code: "toolFailed", reason: "ffmpeg could not be run to its end: \(what).",
            remedy: "Run the same ffmpeg with -version and reinstall the package if that fails too.")
    }

    static func containerRefused(_ ending: String, _ reason: String) -> Self {
        Self(
            code: "containerRefused", reason: "ffmpeg wrote no file of the kind \"\(ending)\": \(reason)",
            remedy: "Give the file the ending mp4, mkv or ts.")
    }

    static func deadlineExceeded(_ deadline: Duration) -> Self {
        Self(
            code: "deadlineExceeded", reason: "ffmpeg was still running after \(deadline) and was ended.",
            remedy: "Play fewer segments or allow ffmpeg more time.")
    }

    static func outputTooLarge(_ limit: Int) -> Self {
        Self(
            code: "outputTooLarge", reason: "ffmpeg wrote more than \(limit) bytes and was ended.",
            remedy: "Play fewer segments.")
    }

    static func resourceTooLarge(_ name: String, limit: Int) -> Self {
        Self(
            code: "resourceTooLarge", reason: "\(redacted(name)) has more than \(limit) bytes.",
            remedy: "Raise the limit in DownloadLimits if a resource of this size is expected.")
    }

    static func resourceMissing(_ name: String) -> Self {
        Self(
            code: "resourceMissing", reason: "\(redacted(name)) could not be read.",
            remedy: "Check that the playlist and everything that it names are where it says.")
    }

    static func emptyStream(_ name: String) -> Self {
        Self(
            code: "emptyStream", reason: "\(redacted(name)) names nothing that could be played.",
            remedy: "Give a playlist that has variants or segments.")
    }

    static func malformedPlaylist(_ what: String) -> Self {
        Self(
            code: "malformedPlaylist", reason: "The playlist cannot be played: \(what).",
            remedy: "Correct the playlist; latchkey keys shows how it reads.")
    }

    static func schemeNotAllowed(_ name: String) -> Self {
        Self(
            code: "schemeNotAllowed",
            reason: "A playlist leads to \(redacted(name)), which is of another kind of address.",
            remedy: "Name playlists and media by relative, http or https addresses.")
    }

    static func unsupportedContainer(_ name: String) -> Self {
        Self(
            code: "unsupportedContainer",
            reason: "\(redacted(name)) is neither fragmented MP4, MPEG-TS nor packed audio.",
            remedy: "Check that the server sends the media itself and not an error page.")
    }

    static func wholeSegmentEncrypted(_ name: String) -> Self {
        Self(
            code: "wholeSegmentUnderSampleAES",
            reason:
                "\(redacted(name)) has no container to see, as if it were encrypted as a whole under METHOD=SAMPLE-AES.",
            remedy: "Make the packager encrypt samples, as FairPlay requires.")
    }

    static func malformedMedia(_ what: String) -> Self {
        Self(
            code: "malformedMedia", reason: "The MP4 boxes are damaged: \(what).",
            remedy: "Package the stream again, or download it again if it was cut off.")
    }

    static func unsupportedSampleGroups(_ what: String) -> Self {
        Self(
            code: "unsupportedSampleGroups", reason: "The sample groups name keys in a way not read here: \(what).",
            remedy: "Package with keys that change at the start of a segment.")
    }

    static func malformedReference(_ what: String) -> Self {
        Self(
            code: "malformedReference", reason: "The reference hashes cannot be read: \(what).",
            remedy: "Give a JSON object with videoSamples, audioSamples, tsVideoAccessUnits and videoFrames.")
    }

    static func fileFailed(_ what: String) -> Self {
        Self(
            code: "fileFailed", reason: "A file of the local copy could not be written: \(what).",
            remedy: "Check the free space and the rights of the folder for temporary files.")
    }

    static func outputFailed(_ name: String) -> Self {
        Self(
            code: "fileFailed", reason: "\(name) could not be written.",
            remedy: "Check that the folder is there, may be written to, and has space.")
    }
}
