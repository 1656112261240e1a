/// A verb's arguments, parsed and checked against its usage.
package struct Arguments: Sendable {
    /// The values in the order in which they came, by the name of the option.
    package var values: [String: [any Sendable]] = [:]
    /// The arguments without a name, by the name of their place.
    package var positionals: [String: [String]] = [:]

    /// The value of an option, `nil` if it was not given.
    package subscript<Value>(_ option: Option<Value>) -> Value? { all(option).last }

    /// Whether a flag was given.
    package subscript(_ flag: Flag) -> Bool { values[flag.name] != nil }

    /// The argument at a place that may be left out; `nil` if it was.
    package func given(_ positional: Positional) -> String? { positionals[positional.name]?.first }

    /// The argument at a place.
    package subscript(_ positional: Positional) -> String { positionals[positional.name]?.first ?? "" }

    /// The arguments at a place, in order; empty if an optional one was left out.
    package func all(_ positional: Positional) -> [String] { positionals[positional.name] ?? [] }

    /// The values of a repeatable option, in order.
    package func all<Value>(_ option: Option<Value>) -> [Value] {
        (values[option.name] ?? []).compactMap { $0 as? Value }
    }

    /// The value of an option that cannot be left out.
    package func required<Value>(_ option: Option<Value>) throws(UsageError) -> Value {
        guard let value = self[option] else { throw .missing(option) }
        return value
    }
}
