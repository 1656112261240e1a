import Foundation
import LatchkeyCore
import LatchkeyFairPlay
import LatchkeySystem
import LatchkeyTerminal

/// The service's credentials that the simulated device needs: the certificate, and the ASk that belongs to it.
struct DeviceCredentials: Sendable {
    let certificate: FairPlayCertificate
    let secret: Secret

    /// Reads the folder that `latchkey credentials` wrote.
    init(_ folder: String, _ console: Console) throws {
        func read(_ name: String) throws -> Data { try InputFile.read("\(folder)/\(name)", limit: 1 << 16, console) }
        certificate = try FairPlayCertificate(read("certificate.der"))
        secret = try KeyServerCredential.applicationSecret(hex: read("ask.hex"))
    }
}
