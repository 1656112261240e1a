import Foundation
import LatchkeyCore
import LatchkeyFairPlay
import LatchkeyForms

/// Reads the files and values named in a licensee's configuration: certificates, keys, PINs, vectors.
struct CredentialReader {
    let places: SecretPlaces

    /// Reads credentials.
    /// - Parameter areNeeded: whether having none is a problem.
    /// - Returns: the credentials without a problem.
    func credentials(
        _ stated: [LicenseeConfiguration.Credential], areNeeded: Bool, _ problems: inout [LicenseeProblem]
    ) -> [KeyServerCredential] {
        if areNeeded, stated.isEmpty { problems.append(LicenseeProblem("credentials", Diagnosis.noCredentials)) }
        var places: [Data: String] = [:]
        return stated.enumerated().compactMap { index, stated in
            let place = "credentials[\(index)]"
            guard let credential = credential(stated, place, &problems) else { return nil }
            let fingerprint = credential.certificate.fingerprint
            if let first = places.updateValue(place, forKey: fingerprint) {
                problems.append(LicenseeProblem(place, Diagnosis.sameCertificate(first)))
            }
            return credential
        }
    }

    private func credential(
        _ stated: LicenseeConfiguration.Credential, _ place: String, _ problems: inout [LicenseeProblem]
    ) -> KeyServerCredential? {
        let inFolder = { (name: String) in stated.folder.map { "\($0)/\(name)" } }
        let askOfFolder = inFolder("ask.hex").flatMap {
            FileManager.default.fileExists(atPath: places.path($0)) ? $0 : nil
        }
        // Each is read even if another is invalid, so that all problems are reported together.
        let certificate = attempt(place + ".certificate", &problems) {
            try FairPlayCertificate(read(certificate: stated.certificate ?? inFolder("certificate.der")))
        }
        let ask = attempt(place + ".ask", &problems) { try applicationSecret(stated.ask ?? askOfFolder) }
        let key = attempt(place + ".key", &problems) { try privateKey(stated, inFolder("private-key.pem")) }
        guard let certificate, let ask, let key else { return nil }
        return attempt(place + ".key", &problems) {
            switch key {
            case .pem(let pem):
                try KeyServerCredential(certificate: certificate, privateKeyPEM: pem, applicationSecret: ask)
            case .token(let key): try KeyServerCredential(certificate: certificate, key: key, applicationSecret: ask)
            }
        }
    }

    private func applicationSecret(_ file: String?) throws -> Secret? {
        guard let file else { return nil }
        return try KeyServerCredential.applicationSecret(hex: places.secret(file).revealed)
    }

    private enum Key {
        case pem(Secret)
        case token(PKCS11Key)
    }

    private func privateKey(_ stated: LicenseeConfiguration.Credential, _ file: String?) throws -> Key {
        guard let key = stated.key ?? file else { throw Diagnosis.noKey }
        guard PKCS11Address.isMeant(by: key) else { return .pem(try places.secret(key)) }
        return .token(
            try PKCS11Key(
                PKCS11Address(key), pin: places.pin(file: stated.pinFile, variable: stated.pinVariable)))
    }

    /// Reads vectors, which hold an ASk.
    func vectors(_ file: String) throws -> DerivationVectors {
        try DerivationVectors.form.decode(places.secret(file).withUnsafeBytes { Array($0) }, code: "vectorsInvalid")
    }

    /// Reads an exchange's SPC and credentials; paths are relative to the vectors' file.
    func exchange(
        _ exchange: DerivationVectors.Exchange, of vectors: String
    ) throws -> (spc: [UInt8], credential: KeyServerCredential) {
        let reader = CredentialReader(places: places.beside(vectors))
        var stated = LicenseeConfiguration.Credential()
        stated.folder = exchange.credentials
        var problems: [LicenseeProblem] = []
        let credential = reader.credential(stated, exchange.credentials, &problems)
        guard let credential else { throw LicenseeError(problems) }
        return (Array(try reader.places.contents(exchange.spc)), credential)
    }

    private func read(certificate: String?) throws -> Data {
        guard let certificate else { throw Diagnosis.noCertificate }
        return try places.contents(certificate)
    }

    /// - Returns: `nil` if there is a problem.
    private func attempt<Value>(
        _ place: String, _ problems: inout [LicenseeProblem], _ body: () throws -> Value
    ) -> Value? {
        do { return try body() } catch {
            problems.append(LicenseeProblem(place, error))
            return nil
        }
    }
}

extension Diagnosis {
    fileprivate static let noCredentials = Diagnosis(
        code: "credentialsMissing", reason: "There are no FairPlay credentials.",
        remedy: "Add a folder that `latchkey credentials` wrote, or your own certificate, key and ASk.")

    fileprivate static let noCertificate = Diagnosis(
        code: "credentialsMissing", reason: "The certificate is missing.", remedy: "Specify its file, or a folder.")

    fileprivate static let noKey = Diagnosis(
        code: "credentialsMissing", reason: "The private key is missing.",
        remedy: "Specify its file or pkcs11: address, or a folder.")

    fileprivate static func sameCertificate(_ place: String) -> Diagnosis {
        Diagnosis(
            code: "credentialsTwice", reason: "It has the same certificate as \(place).",
            remedy: "Remove one of the two.")
    }
}
