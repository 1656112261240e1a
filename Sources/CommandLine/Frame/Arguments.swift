/// A verb's arguments, parsed and checked against its usage.
struct Arguments: Sendable {
    /// The values in the order in which they came, by the name of the option.
    var values: [String: [any Sendable]] = [:]
    /// The arguments without a name, by the name of their place.
    var positionals: [String: String] = [:]

    /// The value of an option, nil where it was not given.
    subscript<Value>(_ option: Option<Value>) -> Value? { all(option).last }

    /// Whether a flag was given.
    subscript(_ flag: Flag) -> Bool { values[flag.name] != nil }

    /// The argument at a place.
    subscript(_ positional: Positional) -> String { positionals[positional.name] ?? "" }

    /// The values of a repeatable option, in order.
    func all<Value>(_ option: Option<Value>) -> [Value] {
        (values[option.name] ?? []).compactMap { $0 as? Value }
    }

    /// The value of an option that cannot be left out.
    func required<Value>(_ option: Option<Value>) throws(UsageError) -> Value {
        guard let value = self[option] else { throw .missing(option) }
        return value
    }
}
