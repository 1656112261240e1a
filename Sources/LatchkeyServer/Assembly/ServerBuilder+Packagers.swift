import Foundation
import LatchkeyCore
import LatchkeyLicensees
import LatchkeyLicensing
import LatchkeyPackaging

/// The parts for packagers, from the files that a tenant's configuration names.
extension ServerBuilder {
    func signers(of settings: TenantSettings, _ place: String, _ problems: inout ServerProblems)
        -> [String: CommonEncryptionSigner]
    {
        var signers: [String: CommonEncryptionSigner] = [:]
        for (signer, stated) in settings.signers.sorted(by: { $0.key < $1.key }) {
            signers[signer] = problems.collecting("\(place).signers.\(signer)") { try self.signer(stated) }
        }
        return signers
    }

    func recipients(of settings: TenantSettings, _ place: String, _ problems: inout ServerProblems) -> [CPIXRecipient] {
        settings.importRecipients.enumerated().compactMap { index, stated in
            problems.collecting("\(place).importRecipients[\(index)]") {
                try CPIXRecipient(certificate: file.contents(stated.certificate), pem: file.secrets.secret(stated.key))
            }
        }
    }

    /// The callers, in the order of the tenants' names: nothing depends on how the configuration is held in memory.
    func callers(_ proxies: TrustedProxies) -> CallerDirectory {
        let entries = file.settings.tenants.sorted { $0.key < $1.key }.flatMap { name, tenant in
            tenant.packagers.flatMap { stated in
                stated.credentials.map {
                    CallerDirectory.Entry($0, Caller(name: stated.name, tenant: name, rights: stated.rights))
                }
            }
        }
        return CallerDirectory(entries, proxies: proxies)
    }

    private func signer(_ stated: TenantSettings.Signer) throws -> CommonEncryptionSigner {
        guard let key = Data(hexString: try file.secrets.text(stated.key).revealedText),
            let iv = Data(hexString: stated.iv), let signer = CommonEncryptionSigner(key: Secret(key), iv: [UInt8](iv))
        else {
            throw Diagnosis(
                code: "signerInvalid", reason: "A signer's key is 32 bytes and its IV 16 bytes, in hexadecimal digits.",
                remedy: "Use the values of the packager's --aes_signing_key and --aes_signing_iv.")
        }
        return signer
    }
}
