/// A verb's arguments, parsed and checked against its usage.
package struct Arguments: Sendable {
    /// The values in command-line order, by the name of the option.
    package var values: [String: [any Sendable]] = [:]
    /// The positional arguments, by the name of their position.
    package var positionals: [String: [String]] = [:]

    /// The value of an option; `nil` if absent.
    package subscript<Value>(_ option: Option<Value>) -> Value? { all(option).last }

    /// Whether a flag was given.
    package subscript(_ flag: Flag) -> Bool { values[flag.name] != nil }

    /// The argument at an optional position; `nil` if absent.
    package func given(_ positional: Positional) -> String? { positionals[positional.name]?.first }

    /// The argument at a position.
    package subscript(_ positional: Positional) -> String { positionals[positional.name]?.first ?? "" }

    /// The arguments at a position, in order; empty if an optional one is absent.
    package func all(_ positional: Positional) -> [String] { positionals[positional.name] ?? [] }

    /// The values of a repeatable option, in order.
    package func all<Value>(_ option: Option<Value>) -> [Value] {
        (values[option.name] ?? []).compactMap { $0 as? Value }
    }

    /// The value of a required option.
    package func required<Value>(_ option: Option<Value>) throws(UsageError) -> Value {
        guard let value = self[option] else { throw .missing(option) }
        return value
    }
}
