import LatchkeyCore
package import LatchkeyForms

/// A server's settings for FairPlay credentials and the licensee's derivation.
///
/// Paths are absolute, or relative to the configuration's folder.
///
/// Source: `Documentation/Licensees.md` §2.
package struct LicenseeConfiguration: Sendable, Equatable {
    /// One application certificate and its secrets.
    package struct Credential: Sendable, Equatable {
        /// A folder with `certificate.der`, `private-key.pem` and, if there is one, `ask.hex`. Other members override its files.
        package var folder: String?
        /// The certificate's file, in DER form.
        package var certificate: String?
        /// The private key: a PEM file, or the `pkcs11:` address of one in a token.
        package var key: String?
        /// The ASk's file, 32 hexadecimal digits. Some credentials have none.
        package var ask: String?
        /// The file of the token's PIN.
        package var pinFile: String?
        /// The environment variable of the token's PIN.
        package var pinVariable: String?

        package init() {}
    }

    /// The credentials; the SPC's certificate hash selects one.
    package var credentials: [Credential] = []
    /// The licensee's shared library. Without one, the server serves test credentials only.
    package var derivation: String?
    /// A file of test vectors for the derivation; see `DerivationVectors`.
    package var vectors: String?
    /// Folders of mounted secrets, whose files may be readable by users other than their owner.
    package var secretMounts: [String] = []

    package init() {}

    /// The files and folders of the credentials, as the configuration names them.
    package var files: [String] {
        credentials.flatMap { [$0.folder, $0.certificate, $0.key, $0.ask] }.compactMap { $0 }
    }
}

extension LicenseeConfiguration {
    /// Its JSON form.
    package static let form: ObjectForm<LicenseeConfiguration> = ObjectForm(
        empty: LicenseeConfiguration(),
        members: [
            .required("credentials", \.credentials, .list(Credential.form.form)),
            .optional("derivation", \.derivation, .path), .optional("vectors", \.vectors, .path),
            .defaulting("secretMounts", \.secretMounts, .list(.path), to: []),
        ],
        check: { licensee, place, problems in
            for (index, one) in licensee.credentials.enumerated()
            where licensee.credentials.prefix(index).contains(where: { $0.isOfOnePlace(with: one) }) {
                problems.append(.twice(place.member("credentials").element(index)))
            }
        })
}

extension LicenseeConfiguration.Credential {
    /// Whether both name the same certificate's place.
    fileprivate func isOfOnePlace(with other: Self) -> Bool {
        folder.map { $0 == other.folder } ?? false || certificate.map { $0 == other.certificate } ?? false
    }

    package static let form: ObjectForm<Self> = ObjectForm(
        empty: Self(),
        members: [
            .optional("folder", \.folder, .path), .optional("certificate", \.certificate, .path),
            .optional("key", \.key, .path), .optional("ask", \.ask, .path), .optional("pinFile", \.pinFile, .path),
            .optional("pinVariable", \.pinVariable, .text),
        ],
        check: { credential, place, problems in
            guard credential.folder == nil, credential.certificate == nil || credential.key == nil else { return }
            problems.append(
                JSONProblem(
                    place, "It has neither a folder nor a certificate and key.",
                    remedy: "Add folder, or both certificate and key."))
        })
}

extension JSONForm where Value == String {
    /// A file's path, or an address; no control characters.
    fileprivate static let path = JSONForm(
        text: "a path of 1 to 4096 characters",
        read: { (1...4_096).contains($0.count) && $0.onOneLine == $0 ? $0 : nil },
        write: { $0 })
}
