/// The namespaces of CPIX and SPEKE, with the prefixes of their examples.
///
/// Source: `Documentation/LicenseServer.md` §2.2.
extension XMLTree.Vocabulary {
    /// CPIX.
    package static let cpix = Self(namespace: "urn:dashif:org:cpix", prefix: "cpix")
    /// Portable symmetric keys, RFC 6030.
    package static let pskc = Self(namespace: "urn:ietf:params:xml:ns:keyprov:pskc", prefix: "pskc")
    /// XML encryption.
    package static let enc = Self(namespace: "http://www.w3.org/2001/04/xmlenc#", prefix: "enc")
    /// XML signatures, which lend their form of certificates.
    package static let ds = Self(namespace: "http://www.w3.org/2000/09/xmldsig#", prefix: "ds")
    /// SPEKE, version 1.
    package static let speke = Self(namespace: "urn:aws:amazon:com:speke", prefix: "speke")
}
