import Foundation
import LatchkeyCore

@testable import LatchkeyFairPlay

/// New credentials with a fixed application secret key, because the payloads of the corpus were made with that key.
private let credential: KeyServerCredential = {
    do {
        let secret = Data(hexString: "4415a7bf5fe2ad0afb39a034f1b5ec3f").map { Secret($0) }
        return try TestCredentials.make(bits: 1_024).credential.replacing(applicationSecret: secret)
    } catch {
        preconditionFailure("\(error)")
    }
}()
private let module = KeyServerModule(
    credentials: [credential], derivation: InsecureTestDerivation(), openers: [PayloadAlone()])

/// Takes everything after the version as the payload, so that the payload is fuzzed without encryption.
private struct PayloadAlone: SPCOpener {
    let versions: Set<UInt32> = [3]

    func open(_ spc: [UInt8], credentials: [KeyServerCredential]) throws -> OpenedSPC {
        OpenedSPC(payload: Array(spc.dropFirst(4)), credentialIndex: 0)
    }
}

/// An SPC with the correct certificate hash, so that parsing continues after it.
func fuzzSPC(_ data: Data) {
    var spc = Array(data)
    if spc.count >= 172 { spc.replaceSubrange(152..<172, with: credential.certificate.fingerprintBytes) }
    answer(spc)
    _ = SPCReport(data, module: module)
}

/// The payload of an SPC.
func fuzzSPCPayload(_ data: Data) { answer([0, 0, 0, 3] + Array(data)) }

/// Answers an SPC if it can be opened. The result must be a CKC.
private func answer(_ spc: [UInt8]) {
    guard let context = try? module.open(spc) else { return }
    _ = (context.assetID.description, context.transactionID, context.playback)
    var generator = SeededGenerator(seed: 1)
    guard
        let key = ContentKey(
            key: Secret([UInt8](repeating: 1, count: 16)), iv: Secret([UInt8](repeating: 2, count: 16)))
    else { return }
    let ckc = try? module.contentKeyContext(for: context, key: key, terms: LicenseTerms(), using: &generator)
    if let ckc { require((try? CKCContainer(Array(ckc))) != nil, "the module's own CKC is none") }
}

/// A CKC from a device's point of view.
func fuzzCKC(_ data: Data) {
    _ = try? CKCContainer(Array(data))
    _ = try? JSONEncoder().encode(CKCReport(data))
}

/// An application certificate.
func fuzzCertificate(_ data: Data) {
    _ = try? FairPlayCertificate(data)
    _ = try? JSONEncoder().encode(CertificateReport(data, at: Date(timeIntervalSince1970: 1_767_225_600)))
}
