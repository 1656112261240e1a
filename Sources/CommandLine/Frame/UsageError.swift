/// Wrong arguments: what is wrong, and a hint for the next try.
struct UsageError: Error, Equatable {
    let message: String
    let hint: String?

    init(_ message: String, hint: String? = nil) {
        self.message = message
        self.hint = hint
    }

    /// The same with a hint, unless it has one.
    func hinting(at hint: String) -> Self { UsageError(message, hint: self.hint ?? hint) }

    static func missing(_ parameter: any Parameter) -> Self {
        UsageError("\(parameter.name) \(parameter.placeholder ?? "") is missing.")
    }
}
