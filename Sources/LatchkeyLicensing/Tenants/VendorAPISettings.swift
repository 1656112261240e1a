import LatchkeyCore
import LatchkeyForms

/// The APIs of vendors on a tenant's addresses, for apps that speak to a vendor.
///
/// Secrets are names of files.
///
/// Source: `Documentation/LicenseServer.md` §5.1.
package struct VendorAPISettings: Sendable, Equatable {
    package internal(set) var vuDRM: VuDRM?
    package internal(set) var axinom: Axinom?
    package internal(set) var doveRunner: DoveRunner?
    package internal(set) var drmToday: DRMtoday?

    /// VuDRM, below `/t/{tenant}/vudrm`.
    package struct VuDRM: Sendable, Equatable {
        /// The customer's name, which stands in tokens and in the certificate's address.
        package internal(set) var client = ""
        /// The file of the secret that tokens are hashed with.
        package internal(set) var secret = ""
        /// How old a token may be. Defaults to 30 s.
        package internal(set) var tokenLife = Duration.seconds(30)
        /// Whether a token is for one license. Defaults to yes, as at the vendor.
        package internal(set) var isSingleUse = true
    }

    /// Axinom DRM, below `/t/{tenant}/axinom`.
    package struct Axinom: Sendable, Equatable {
        /// The communication key's identifier, a UUID.
        package internal(set) var keyID = ""
        /// The file of the communication key, in base64.
        package internal(set) var key = ""
    }

    /// DoveRunner, below `/t/{tenant}/doverunner`.
    package struct DoveRunner: Sendable, Equatable {
        /// The site's four characters.
        package internal(set) var site = ""
        /// The file of the access key.
        package internal(set) var accessKey = ""
        /// The file of the site key, which encrypts policies: 32 characters.
        package internal(set) var siteKey = ""
        /// How old a token may be. Defaults to 10 minutes, as at the vendor.
        package internal(set) var tokenLife = Duration.seconds(600)
        /// Whether a token is for one session. Defaults to no.
        package internal(set) var isSingleUse = false
    }

    /// DRMtoday, below `/t/{tenant}/drmtoday`.
    package struct DRMtoday: Sendable, Equatable {
        package internal(set) var merchant = ""
        /// The file of the key that signs tokens.
        package internal(set) var key = ""
        /// How old a token may be, by its `iat`. Defaults to 10 minutes.
        package internal(set) var tokenLife = Duration.seconds(600)
        /// Whether a token is for one session. Defaults to no.
        package internal(set) var isSingleUse = false
    }

    package init() {}
}

extension VendorAPISettings {
    /// The files that it names.
    var files: [String] {
        [vuDRM?.secret, axinom?.key, doveRunner?.accessKey, doveRunner?.siteKey, drmToday?.key].compactMap { $0 }
    }

    static let form: ObjectForm<Self> = ObjectForm(
        empty: Self(),
        members: [
            .optional("vudrm", \.vuDRM, VuDRM.form.form), .optional("axinom", \.axinom, Axinom.form.form),
            .optional("doverunner", \.doveRunner, DoveRunner.form.form),
            .optional("drmtoday", \.drmToday, DRMtoday.form.form),
        ])
}

extension VendorAPISettings.VuDRM {
    fileprivate static let form: ObjectForm<Self> = ObjectForm(
        empty: Self(),
        members: [
            .required("client", \.client, .name), .required("secret", \.secret, .text),
            .defaulting("tokenLife", \.tokenLife, .duration(), to: .seconds(30)),
            .defaulting("singleUse", \.isSingleUse, .flag, to: true),
        ])
}

extension VendorAPISettings.Axinom {
    fileprivate static let form: ObjectForm<Self> = ObjectForm(
        empty: Self(),
        members: [
            .required("keyId", \.keyID, JSONForm(text: "a UUID", read: { KeyID($0)?.description }, write: { $0 })),
            .required("key", \.key, .text),
        ])
}

extension VendorAPISettings.DoveRunner {
    fileprivate static let form: ObjectForm<Self> = ObjectForm(
        empty: Self(),
        members: [
            .required(
                "site", \.site,
                JSONForm(text: "four characters", read: { $0.count == 4 ? $0 : nil }, write: { $0 })),
            .required("accessKey", \.accessKey, .text), .required("siteKey", \.siteKey, .text),
            .defaulting("tokenLife", \.tokenLife, .duration(), to: .seconds(600)),
            .defaulting("singleUse", \.isSingleUse, .flag, to: false),
        ])
}

extension VendorAPISettings.DRMtoday {
    fileprivate static let form: ObjectForm<Self> = ObjectForm(
        empty: Self(),
        members: [
            .required("merchant", \.merchant, .text), .required("key", \.key, .text),
            .defaulting("tokenLife", \.tokenLife, .duration(), to: .seconds(600)),
            .defaulting("singleUse", \.isSingleUse, .flag, to: false),
        ])
}
