package import LatchkeyCore

/// The statements of a device in an SPC that another module answers.
///
/// Nothing was verified: the other module does it. The device's identifier is only known where the session bytes are whole.
package struct SPCStatements: Sendable {
    package let assetID: ContentIdentifier
    package let playback: MediaPlayback?
    package let capabilities: DeviceCapabilities
    package let destination: StreamingDestination
    package let protocolVersion: UInt32
    /// The device's anonymized identifier (HU), 20 bytes; `nil` without the licensee's derivation.
    package let deviceIdentifier: Secret?
}

extension KeyServerModule {
    /// Reads an SPC as far as the credentials, the openers and the derivation allow.
    /// - Returns: `nil` for an SPC of a container version or a certificate that only another module may know.
    /// - Throws: as `open(_:)`.
    package func statements(of spc: [UInt8]) throws(KSMRefusal) -> SPCStatements? {
        do throws(KSMRefusal) {
            let cipher = try Self.cipher()
            let (bytes, index) = try payload(of: spc, cipher)
            let payload = try SPCPayload(Self.blocks(of: bytes))
            let session = try? session(payload, credential: credentials[index], cipher)
            return SPCStatements(
                assetID: payload.assetID, playback: payload.playback, capabilities: payload.capabilities,
                destination: payload.destination, protocolVersion: payload.protocolVersion,
                deviceIdentifier: session?.deviceIdentifier)
        } catch {
            if error.kind == .unsupportedVersion || error.kind == .unknownCertificate { return nil }
            throw error
        }
    }

    private func payload(
        of spc: [UInt8], _ cipher: borrowing AESCBC
    ) throws(KSMRefusal) -> (payload: [UInt8], credentialIndex: Int) {
        if let opened = try openedByPlugin(spc) { return (opened.payload, opened.credentialIndex) }
        let sealed = try locate(spc)
        return (try Self.payload(of: sealed, payloadKey(of: sealed), cipher), sealed.credentialIndex)
    }
}
