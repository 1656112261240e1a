import Foundation
import LatchkeyCore
import LatchkeyServer

/// What packagers need of the files that a tenant's configuration names.
extension ServerBuilder {
    func signers(of settings: TenantSettings, _ place: String, _ problems: inout ServerProblems)
        -> [String: CommonEncryptionSigner]
    {
        var signers: [String: CommonEncryptionSigner] = [:]
        for (signer, stated) in settings.signers {
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

    private func signer(_ stated: TenantSettings.Signer) throws -> CommonEncryptionSigner {
        guard let key = Data(hexString: try file.secrets.text(stated.key).revealedText),
            let iv = Data(hexString: stated.iv), let signer = CommonEncryptionSigner(key: Secret(key), iv: [UInt8](iv))
        else {
            throw Diagnosis(
                code: "signerInvalid", reason: "A signer's key has 32 bytes and its IV 16, in hexadecimal digits.",
                remedy: "Write what the packager's --aes_signing_key and --aes_signing_iv have.")
        }
        return signer
    }
}
