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
        package var folder: String?
        package var certificate: String?
        package var key: String?
        package var ask: String?
        package var pinFile: String?
        package var pinVariable: String?

        package init() {}
    }

    package var credentials: [Credential] = []
    package var derivation: String?
    package var vectors: String?
    package var module: Module?
    package var secretMounts: [String] = []

    package init() {}

    /// The files and folders of the credentials, as the configuration names them.
    package var files: [String] {
        (credentials.flatMap { [$0.folder, $0.certificate, $0.key, $0.ask] } + [
            module?.credentials, module?.selfTest?.spc,
        ])
        .compactMap { $0 }
    }
}

extension LicenseeConfiguration {
    /// Its JSON form.
    package static let form: ObjectForm<LicenseeConfiguration> = ObjectForm(
        empty: LicenseeConfiguration(),
        members: [
            .required("credentials", \.credentials, .list(Credential.form.form)).explained(
                "The FairPlay certificates, several if needed; the SPC's hash selects one. Players get the first one."),
            .optional("derivation", \.derivation, .path).explained(
                "The licensee's shared library. Without one the server serves test credentials only. `latchkey-server run --derivation LIB` and `demo --derivation LIB` override it, relative to the working directory."
            ),
            .optional("vectors", \.vectors, .path).explained("A file of vectors for the derivation."),
            .optional("module", \.module, Module.form.form).explained(
                "Apple's key server module, which makes the CKCs in place of this server: [Licensees.md](../Licensees.md#6-apples-module). `credentials` may then be an empty list; with them, the server reads SPCs itself as far as it can."
            ),
            .defaulting("secretMounts", \.secretMounts, .list(.path), to: []).explained(
                "Folders whose files may be readable by others, as in containers (`/run/secrets`), but never writable by others."
            ),
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
            .optional("folder", \.folder, .path).explained(
                "A folder with `certificate.der`, `private-key.pem` and an optional `ask.hex`, as `latchkey credentials` writes them. The members below replace its files."
            ),
            .optional("certificate", \.certificate, .path).explained("The certificate's file, in DER form."),
            .optional("key", \.key, .path)
                .explained("The private key: a PEM file, or the `pkcs11:` address of a key in a token."),
            .optional("ask", \.ask, .path)
                .explained("The ASk's file, 32 hexadecimal digits. Some credentials have none."),
            .optional("pinFile", \.pinFile, .path)
                .explained("The file of the token's PIN. The address must not contain the PIN."),
            .optional("pinVariable", \.pinVariable, .text)
                .explained("The environment variable of the token's PIN, in place of a file."),
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
    static let path = JSONForm(
        text: "a path of 1 to 4096 characters",
        read: { (1...4_096).contains($0.count) && $0.onOneLine == $0 ? $0 : nil },
        write: { $0 })
}
