public import LatchkeyCore
import LatchkeyPlayback

/// A stream as files of this process, still encrypted; they go with the last reference to it.
public struct DownloadedStream: Sendable {
    let copy: LocalCopy
    let folder: WorkingFolder

    /// The keys that playing takes, in the order of their first use.
    public var keyURIs: [KeyURI] { copy.keyURIs }
}
