package import LatchkeyCore

/// The key that is asked for.
package struct KeyFacts: Sendable, Hashable {
    package var id: KeyID?
    /// The content whose key it is.
    package var content = ""
    /// What it opens; `all` if nothing is known.
    package var track = TrackClass.all
    /// The policies of the content, in their order.
    package var contentPolicies: [String] = []
    /// The policies of the key or its track class, in their order.
    package var policies: [String] = []
    /// Where it came from; `nil` if nobody said.
    package var origin: KeyOrigin?

    package init() {}
}
