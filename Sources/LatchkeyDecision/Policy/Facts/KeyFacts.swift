package import LatchkeyCore

/// The requested key.
package struct KeyFacts: Sendable, Hashable {
    package var id: KeyID?
    /// The content whose key it is.
    package var content = ""
    /// The class of tracks that it opens; `all` if unknown.
    package var track = TrackClass.all
    /// The policies of the content, in their order.
    package var contentPolicies: [String] = []
    /// The policies of the key or its track class, in their order.
    package var policies: [String] = []
    /// Where it came from; `nil` if unknown.
    package var origin: KeyOrigin?

    package init() {}
}
