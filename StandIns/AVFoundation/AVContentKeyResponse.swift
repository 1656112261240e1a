/// What a key request is answered with.
public final class AVContentKeyResponse: NSObject, @unchecked Sendable {
    enum Content: Sendable {
        case fairPlay(Data)
        case clearKey
        case authorizationToken
    }

    let content: Content

    private init(_ content: Content) { self.content = content }

    /// - Parameter keyResponseData: a CKC, or what the app stored of one.
    public convenience init(fairPlayStreamingKeyResponseData keyResponseData: Data) {
        self.init(.fairPlay(keyResponseData))
    }

    public convenience init(clearKeyData keyData: Data, initializationVector: Data?) { self.init(.clearKey) }

    public convenience init(authorizationTokenData: Data) { self.init(.authorizationToken) }
}
