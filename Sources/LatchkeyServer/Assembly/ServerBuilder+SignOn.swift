import Foundation
import LatchkeyCore
import LatchkeyLicensees
import LatchkeyLicensing
import LatchkeyTransport

/// Where operators sign in.
extension ServerBuilder {
    /// The configured provider, which was not asked yet: a server starts even while it is away.
    func openID(_ problems: inout ServerProblems) -> OpenIDProvider? {
        guard let stated = settings.operators.openID else { return nil }
        let secret = stated.clientSecretFile.flatMap { name in
            problems.collecting("operators.openID.clientSecretFile") { try file.secrets.text(name) }
        }
        let transport: (any Transport)? = problems.collecting("operators.openID.authorities") {
            try self.transport(stated.authorities)
        }
        return transport.map {
            OpenIDProvider(
                stated, secret: secret, transport: $0, health: health.health(.openID, of: nil, engine: "https"),
                timekeeper: timekeeper)
        }
    }

    /// A transport that trusts a file's authorities in addition to the system's.
    func transport(_ authorities: String?) throws -> any Transport {
        guard let authorities else { return OneTimeTransport() }
        let pem = try file.contents(authorities)
        guard String(decoding: pem, as: UTF8.self).contains("-----BEGIN CERTIFICATE-----") else {
            throw Diagnosis(
                code: "openIDAuthorities", reason: "\(authorities.onOneLine) does not contain a PEM certificate.",
                remedy: "Name the file with the certificate of the provider's certificate authority.")
        }
        #if os(Linux)
            let url = URL(filePath: file.path(authorities))
            return OneTimeTransport { CurlTransport(authorities: url) }
        #else
            throw Diagnosis(
                code: "openIDAuthorities",
                reason: "On this system, only the keychain's certificate authorities are trusted.",
                remedy: "Add the authority to the keychain, and remove this member.")
        #endif
    }
}
