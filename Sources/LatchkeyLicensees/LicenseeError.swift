import LatchkeyCore

/// Why a licensee's or an operator's library, a secret, a token or configuration cannot be used. Names places, never a secret or a PIN.
package struct LicenseeError: DiagnosableError, Equatable {
    /// The kinds of failure. Names are stable.
    package enum Kind: String, Sendable {
        /// There is no library at the path.
        case missing = "libraryMissing"
        /// Users other than its owner may change the library.
        case unsafe = "libraryUnsafe"
        /// The system cannot load the library.
        case unloadable = "libraryUnloadable"
        /// The library lacks a function.
        case symbolMissing = "librarySymbolMissing"
        /// The library was built for another version of the interface.
        case otherVersion = "libraryOtherVersion"
        /// The library does not run on this processor.
        case otherProcessor = "libraryOtherProcessor"
        /// The library's own test failed.
        case selfTestFailed = "librarySelfTestFailed"
        /// A secret's file is missing, not a regular file, too long, or not readable by the server.
        case unreadable = "secretFileUnreadable"
        /// Users other than its owner can read or change a secret's file.
        case openToOthers = "secretFileOpenToOthers"
        /// The address is not a `pkcs11:` URI, or holds a PIN, or does not identify one key.
        case addressInvalid = "pkcs11AddressInvalid"
        /// The module cannot be loaded, or does not start.
        case moduleUnusable = "pkcs11ModuleUnusable"
        /// The module has no token with the name, or several.
        case tokenMissing = "pkcs11TokenMissing"
        /// There is no PIN, or it cannot be read.
        case pinMissing = "pkcs11PINMissing"
        /// The token rejected the PIN, which is not tried again.
        case pinRefused = "pkcs11PINRefused"
        /// The token is locked, or would lock after one more wrong PIN.
        case pinLocked = "pkcs11PINLocked"
        /// The token has no private RSA key with the name, or several.
        case objectMissing = "pkcs11ObjectMissing"
        /// The token does not decrypt by RSA-OAEP itself.
        case mechanismMissing = "pkcs11MechanismMissing"
        /// The key can be exported from the token, or may not decrypt.
        case objectUnsafe = "pkcs11ObjectUnsafe"
        /// The token does not respond, or fails.
        case unavailable = "pkcs11Unavailable"
        /// A configuration with problems.
        case invalid = "licenseeInvalid"
    }

    /// The kind of failure.
    package let kind: Kind
    package let reason: String
    package let remedy: String
    /// Every reason why a server cannot start, in the order of the configuration; empty for a kind other than `invalid`.
    package private(set) var problems: [LicenseeProblem] = []

    package var code: String { kind.rawValue }

    init(_ kind: Kind, _ reason: String, remedy: String) {
        self.kind = kind
        self.reason = reason
        self.remedy = remedy
    }

    init(_ kind: Kind, library path: String, _ what: String, remedy: String) {
        self.init(kind, "The library \(path.onOneLine) cannot be used. \(what)", remedy: remedy)
    }

    init(_ problems: [LicenseeProblem]) {
        self.init(
            .invalid, problems.map { "\($0.place): \($0.reason)" }.joined(separator: " "),
            remedy: problems.first?.remedy ?? "Correct the configuration.")
        self.problems = problems
    }

    static func unreadable(_ path: String, _ what: String) -> Self {
        Self(
            .unreadable, "The file \(path.onOneLine) cannot be read: \(what).",
            remedy: "Check the path, and that the server's user may read it.")
    }

    static func openToOthers(_ path: String) -> Self {
        Self(
            .openToOthers, "The file \(path.onOneLine) is accessible to other users.",
            remedy: "Run chmod 600 \(path.onOneLine), or add its folder to secretMounts if it is a mounted secret.")
    }
}

/// One reason why a server cannot start with a licensee's credentials or derivation, by its place in the configuration.
package struct LicenseeProblem: Sendable, Hashable {
    /// The place, such as `credentials[1].key`.
    package let place: String
    package let code: String
    package let reason: String
    package let remedy: String

    init(_ place: String, _ error: any Error) {
        let known = error as? any DiagnosableError
        self.place = place
        code = known?.code ?? "licenseeInvalid"
        reason = known?.reason ?? "\(type(of: error))"
        remedy = known?.remedy ?? "Check the configuration there."
    }
}
