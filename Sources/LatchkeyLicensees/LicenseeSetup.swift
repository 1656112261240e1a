package import Foundation
import LatchkeyCore
package import LatchkeyFairPlay

/// A licensee's credentials and derivation, read and checked: a server's key material, or every reason why it cannot start.
///
/// Reads files, logs in to tokens and runs self-tests, all of which block: call it outside the cooperative pool, at the start and for each
/// reload. Nothing is kept of a configuration with a problem.
///
/// Source: `Documentation/Licensees.md` §2.
package struct LicenseeSetup: Sendable {
    /// A derivation as Swift types, instead of a library.
    package struct Plug: Sendable {
        package let derivation: any ApplicationSecretDerivation
        package let openers: [any SPCOpener]

        /// - Parameters:
        ///   - derivation: checked by its own test, if it is a `SelfTestingDerivation`, and by the configuration's vectors.
        ///   - openers: for SPCs whose layout is not public.
        package init(derivation: any ApplicationSecretDerivation, openers: [any SPCOpener] = []) {
            self.derivation = derivation
            self.openers = openers
        }
    }

    /// The KSM with all credentials; the SPC's certificate hash selects one.
    package let module: KeyServerModule
    /// The licensee's own module, which makes the CKCs; `nil` where the KSM does.
    package let licenseeModule: LicenseeModule?
    /// The credentials in the configuration's order, for logs and metrics.
    package let credentials: [CredentialSummary]
    /// Whether there is no licensee's derivation.
    package let servesTestCredentialsOnly: Bool
    /// Notices for the operator at the start, one sentence each.
    package var notices: [String] { (servesTestCredentialsOnly ? [Self.testOnlyNotice] : []) + ownNotices }
    /// Those about the credentials, and about the version of the licensee's own module.
    package var ownNotices: [String] {
        let version = licenseeModule?.version.map { "CKCs are made by the licensee's module, version \($0)." }
        return credentials.compactMap(\.notice) + [version].compactMap(\.self)
    }

    /// The notice of a server without a licensee's derivation.
    package static let testOnlyNotice =
        "This server only serves test credentials, because no licensee's derivation is configured."

    /// No credentials, for a server whose tenants all have their own.
    package static let none = LicenseeSetup()

    private init() {
        module = KeyServerModule(credentials: [], derivation: InsecureTestDerivation())
        licenseeModule = nil
        (credentials, servesTestCredentialsOnly) = ([], false)
    }

    /// - Parameters:
    ///   - configuration: the configuration.
    ///   - plug: a derivation as Swift types; the configuration then names no library.
    ///   - folder: the base of relative paths.
    ///   - date: the date to which certificates' days are counted.
    ///   - environment: the environment variables that may hold PINs.
    ///   - post: sends a body to the URL of a licensee's module. Defaults to none.
    ///   - observer: observes a licensee's module. Defaults to none.
    /// - Throws: every problem by its place.
    package init(
        _ configuration: LicenseeConfiguration, plug: Plug? = nil, folder: URL, at date: Date,
        environment: [String: String] = ProcessInfo.processInfo.environment, post: ModulePost? = nil,
        observer: ModuleObserver = ModuleObserver()
    ) throws(LicenseeError) {
        let reader = CredentialReader(
            places: SecretPlaces(folder: folder, mounts: configuration.secretMounts, environment: environment))
        var problems: [LicenseeProblem] = []
        let credentials = reader.credentials(
            configuration.credentials, areNeeded: configuration.module == nil, &problems)
        let plug = Self.plug(configuration, plug, reader, &problems)
        if let plug {
            Self.check(plug, configuration.vectors, credentials.first, reader, &problems)
        } else if configuration.derivation == nil, configuration.module == nil {
            for (index, credential) in credentials.enumerated() where !credential.certificate.isTestCertificate {
                problems.append(LicenseeProblem("credentials[\(index)]", Diagnosis.derivationMissing(credential)))
            }
        }
        var licenseeModule: LicenseeModule?
        if let module = configuration.module {
            do {
                licenseeModule = try LicenseeModule(module, in: reader.places, post: post, observer)
            } catch {
                problems.append(LicenseeProblem("module", error))
            }
        }
        guard problems.isEmpty else { throw LicenseeError(problems) }
        self.licenseeModule = licenseeModule
        module = KeyServerModule(
            credentials: credentials, derivation: plug?.derivation ?? InsecureTestDerivation(),
            openers: plug?.openers ?? [])
        self.credentials = credentials.map { CredentialSummary($0, at: date) }
        servesTestCredentialsOnly = plug == nil && licenseeModule == nil
    }

    /// The licensee's derivation, as given or in a library; `nil` if there is none or it cannot be loaded.
    private static func plug(
        _ configuration: LicenseeConfiguration, _ given: Plug?, _ reader: CredentialReader,
        _ problems: inout [LicenseeProblem]
    ) -> Plug? {
        guard let path = configuration.derivation else { return given }
        guard given == nil else {
            problems.append(LicenseeProblem("derivation", Diagnosis.derivationTwice))
            return nil
        }
        do throws(LicenseeError) {
            let library = try DerivationLibrary(path: reader.places.path(path))
            return Plug(derivation: library, openers: library.opener.map { [$0] } ?? [])
        } catch {
            problems.append(LicenseeProblem("derivation", error))
            return nil
        }
    }

    /// Runs the derivation's own test and the configuration's vectors; one of them is required.
    private static func check(
        _ plug: Plug, _ vectors: String?, _ credential: KeyServerCredential?, _ reader: CredentialReader,
        _ problems: inout [LicenseeProblem]
    ) {
        let tested = plug.derivation as? any SelfTestingDerivation
        do { try tested?.selfTest() } catch { problems.append(LicenseeProblem("derivation", error)) }
        guard let vectors else {
            if tested?.hasSelfTest != true { problems.append(LicenseeProblem("vectors", Diagnosis.noSelfTest)) }
            return
        }
        do {
            let read = try reader.vectors(vectors)
            // Without a credential there is already a problem.
            guard let credential else { return }
            try read.check(plug.derivation, plug.openers, for: credential) { try reader.exchange($0, of: vectors) }
        } catch {
            problems.append(LicenseeProblem("vectors", error))
        }
    }
}

extension Diagnosis {
    fileprivate static func derivationMissing(_ credential: KeyServerCredential) -> Diagnosis {
        Diagnosis(
            code: "derivationMissing",
            reason: "Without a licensee's derivation the server only serves test credentials, and the certificate "
                + "\(credential.certificate.fingerprint.hexString) is not a test certificate.",
            remedy: "Set derivation to your library, or start with `--derivation libname.so`.")
    }

    fileprivate static let derivationTwice = Diagnosis(
        code: "derivationTwice", reason: "Both a Swift derivation and a library's derivation are configured.",
        remedy: "Remove derivation from the configuration.")

    fileprivate static let noSelfTest = Diagnosis(
        code: "derivationUntested",
        reason: "The derivation has no self-test, and the configuration has no vectors.",
        remedy: "Export latchkey_derivation_self_test, or configure a file of vectors.")
}
