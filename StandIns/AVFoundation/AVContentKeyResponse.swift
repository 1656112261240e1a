/// An answer to a key request.
@available(iOS 10.3, macOS 10.12.4, tvOS 10.2, watchOS 7.0, visionOS 1.0, *)
open class AVContentKeyResponse: NSObject, @unchecked Sendable {
    enum Content: Sendable {
        case fairPlay(Data)
        case clearKey
        case authorizationToken
    }

    let content: Content

    private init(_ content: Content) { self.content = content }

    /// - Parameter keyResponseData: a CKC, or a stored key that was made from one.
    public convenience init(fairPlayStreamingKeyResponseData keyResponseData: Data) {
        self.init(.fairPlay(keyResponseData))
    }

    @available(iOS 11.0, macOS 10.13, tvOS 11.0, watchOS 7.0, visionOS 1.0, *)
    public convenience init(clearKeyData keyData: Data, initializationVector: Data?) { self.init(.clearKey) }

    @available(iOS 13.0, macOS 10.15, tvOS 13.0, watchOS 7.0, visionOS 1.0, *)
    public convenience init(authorizationTokenData: Data) { self.init(.authorizationToken) }
}
