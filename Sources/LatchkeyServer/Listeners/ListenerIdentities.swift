import Foundation
import LatchkeyCore
import LatchkeyHTTP
import LatchkeyLicensees
import LatchkeyLicensing

/// The TLS identities of a configuration's listeners; `nil` for plain HTTP.
struct ListenerIdentities: Sendable {
    package let players, packagers, operators: TLSIdentity?

    /// The number of days before the end from which a notice is due; fewer than for FairPlay, as most authorities issue for weeks.
    private static let daysOfWarning = 7

    /// The identities by the names of their listeners.
    var named: [String: TLSIdentity] {
        ["players": players, "packagers": packagers, "operators": operators].compactMapValues { $0 }
    }

    /// Notices to operators about the certificates' dates, a sentence each. Clients judge dates, so they stop no server.
    package func notices(at date: Date) -> [String] {
        named.sorted { $0.key < $1.key }.compactMap { listener, identity in
            let place = "The TLS certificate of \(listener)"
            if identity.notBefore > date { return "\(place) is not valid yet." }
            let left = Duration.seconds(identity.notAfter.timeIntervalSince(date))
            let days = Int((left.inSeconds / 86_400).rounded(.down))
            guard days < Self.daysOfWarning else { return nil }
            if left < .zero { return "\(place) expired \(left.inDaysAgo); replace it." }
            return "\(place) expires in \(days.counted("day")); replace it in time."
        }
    }
}

extension ConfigurationFile {
    /// Reads the certificate and the key of a listener. The key is a secret: only its owner may read its file.
    /// - Returns: `nil` for plain HTTP.
    /// - Throws: `FileError`, `LicenseeError`, `Diagnosis`.
    func identity(of listener: ServerSettings.Listener) throws -> TLSIdentity? {
        guard let certificate = listener.certificate, let key = listener.privateKey else { return nil }
        let text = String(decoding: try contents(certificate), as: UTF8.self)
        return try TLSIdentity(.init(certificate: text, privateKey: secrets.secret(key).revealedText))
    }
}
