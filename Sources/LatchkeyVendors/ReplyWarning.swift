/// Something in a service's reply that differs from its documentation but could be read.
public struct ReplyWarning: Sendable, Hashable, Codable {
    /// A stable name, such as `unusualForm`.
    public let code: String
    /// What is unusual, in one sentence without secrets.
    public let text: String

    /// Makes a warning.
    @_spi(Integrations) public init(code: String, text: String) {
        self.code = code
        self.text = text
    }

    /// A CKC in another envelope than the vendor's.
    /// - Parameter format: what the body is: `Recognition.noun`.
    static func unusualForm(_ format: String) -> Self {
        Self(
            code: "unusualForm",
            text:
                "The CKC came as \(format), and not in the form that the vendor documents; other clients may refuse it."
        )
    }
}
