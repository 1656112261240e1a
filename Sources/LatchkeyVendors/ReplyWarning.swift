/// A deviation of a service's reply from its documentation that did not keep it from being read.
public struct ReplyWarning: Sendable, Hashable, Codable {
    /// A stable name, such as `unusualForm`.
    public let code: String
    /// The oddity, in one sentence without secrets.
    public let text: String

    /// Makes a warning.
    @_spi(Integrations) public init(code: String, text: String) {
        self.code = code
        self.text = text
    }

    /// A CKC in another envelope than the vendor's.
    /// - Parameter format: the body's form: `Recognition.noun`.
    static func unusualForm(_ format: String) -> Self {
        Self(
            code: "unusualForm",
            text:
                "The CKC came as \(format), and not in the form that the vendor documents; other clients may refuse it."
        )
    }
}
