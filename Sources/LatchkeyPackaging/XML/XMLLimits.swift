/// The limits of a document.
///
/// Source: `Documentation/LicenseServer.md` §3.
struct XMLLimits: Sendable {
    /// Bytes of the whole document.
    var bytes = 256 * 1024
    /// Levels of elements.
    var depth = 32
    /// Elements in all.
    var elements = 20_000
    /// Attributes of one element.
    var attributes = 64
    /// Bytes of one name.
    var nameBytes = 256
    /// Bytes of one attribute's value, without escapes.
    var valueBytes = 4_096
}
