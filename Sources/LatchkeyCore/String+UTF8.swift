extension String {
    /// - Parameter bytes: text in UTF-8. Bytes that are none give `nil`.
    package init?(utf8 bytes: ArraySlice<UInt8>) {
        // What is no UTF-8 was replaced, and differs.
        let text = String(decoding: bytes, as: UTF8.self)
        guard text.utf8.elementsEqual(bytes) else { return nil }
        self = text
    }
}
