/// The data authenticated along with a sealed key, so that it opens in its place only: a label, then each part behind its length in 4
/// bytes, big-endian.
struct SealingContext {
    private(set) var bytes: [UInt8]

    init(_ label: String) { bytes = Array(label.utf8) }

    mutating func append(_ part: some Collection<UInt8>) {
        bytes += UInt32(clamping: part.count).bytes
        bytes += part
    }
}
