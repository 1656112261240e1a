import LatchkeyVault

extension EncryptionScheme {
    /// The scheme of an attribute's value; `nil` for others.
    /// - Parameters:
    ///   - value: as written.
    ///   - version: 2.1 also takes the method names of HLS.
    init?(_ value: String, in version: SPEKEVersion) {
        switch (value, version) {
        case ("SAMPLE-AES", .version2_1): self = .cbcs
        case ("SAMPLE-AES-CTR", .version2_1): self = .cenc
        case ("AES-128", .version2_1): self = .cbc1
        default: self.init(rawValue: value)
        }
    }
}
