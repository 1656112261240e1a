public import LatchkeyCore
import LatchkeyPlayback

/// A stream as files of this process, still encrypted. They are removed with the last reference.
public struct DownloadedStream: Sendable {
    let copy: LocalCopy
    let folder: WorkingFolder

    /// The keys needed for playback, in the order of their first use.
    public var keyURIs: [KeyURI] { copy.keyURIs }
}
