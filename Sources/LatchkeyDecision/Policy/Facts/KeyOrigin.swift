/// Where the content key of a license came from.
package enum KeyOrigin: String, Sendable, Hashable, CaseIterable {
    /// The store, for this license.
    case store
    /// Memory: read before, from a store that answers.
    case memory
    /// Memory: read before, from a store that does not answer now, so that it may be old.
    case stale
    /// The node's own copy, because the store does not answer.
    case copy
    /// Derivation: the store has no row of it, so that no packager ever got it here.
    case unlisted
}
