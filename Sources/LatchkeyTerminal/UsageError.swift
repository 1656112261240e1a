/// Wrong arguments: the problem, and a hint for the next try.
package struct UsageError: Error, Equatable {
    package let message: String
    package let hint: String?

    package init(_ message: String, hint: String? = nil) {
        // Both may repeat text from the command line.
        self.message = message.visible
        self.hint = hint?.visible
    }

    /// The same error with a hint, unless it has one.
    package func hinting(at hint: String) -> Self { UsageError(message, hint: self.hint ?? hint) }

    package static func missing(_ parameter: any Parameter) -> Self {
        UsageError("\(parameter.name) \(parameter.placeholder ?? "") is missing.")
    }
}
