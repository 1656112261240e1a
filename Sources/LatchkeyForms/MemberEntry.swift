/// A member of a form, at any depth, as a reference lists it.
package struct MemberEntry: Sendable, Equatable {
    /// `tenants.*.packagers[].name`.
    package internal(set) var path: String
    /// The allowed values: `a whole number from 1 to 1024`.
    package internal(set) var values = ""
    /// The value of an absent member; `nil` if that is stated in the text.
    package internal(set) var standard: String?
    package internal(set) var isRequired = false
    /// Whether its value has members, which follow.
    package internal(set) var isObject = false
    /// The member's purpose, in sentences of Markdown.
    package internal(set) var text = ""

    init(_ path: String) { self.path = path }

    package func within(_ prefix: String) -> Self {
        var entry = self
        entry.path = prefix + path
        return entry
    }
}
