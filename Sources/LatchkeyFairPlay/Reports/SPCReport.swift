package import Foundation
import LatchkeyCore

/// The contents of an SPC and its problems, for `latchkey inspect spc`. Contains no secrets.
///
/// The header is public. The rest needs the credentials of the SPC's certificate.
package struct SPCReport: Sendable {
    /// The number of bytes of the SPC.
    package let byteCount: Int
    /// The container's version; `nil` if there are fewer than 8 bytes.
    package let version: UInt32?
    /// The SHA-1 of the SPC's certificate, in hexadecimal.
    package let certificateSHA1: String?
    /// The number of bytes of the encrypted payload.
    package let payloadLength: Int?
    /// The subject of the certificate, if its credentials were given.
    package let certificateSubject: String?
    /// The payload's blocks in order, if they could be decrypted.
    package let blocks: [BlockSummary]?
    /// The device's statements, if the SPC is valid.
    package let facts: Facts?
    /// The problems. No errors if the SPC would get a CKC, or if only the header can be read and it is correct.
    package let problems: [InspectionFinding]

    /// The device's statements in a valid SPC.
    package struct Facts: Sendable, Encodable {
        /// The content identifier, as text or in hexadecimal.
        package let assetID: String
        /// The content identifier's bytes in hexadecimal.
        package let assetIDHex: String
        /// The transaction's number in hexadecimal.
        package let transactionID: String
        /// The length and digest of the device's identifier.
        package let deviceIdentifier: String
        /// The player's state; `nil` if not stated.
        package let playbackState: String?
        /// The playback session in hexadecimal.
        package let playbackSession: String?
        /// When the SPC was made, by the device's clock.
        package let created: Date?
        /// The device's capabilities, as the names of the known flags.
        package let capabilities: [String]
        /// Where the device shows the picture.
        package let destination: StreamingDestination
        /// The protocol version that the device used.
        package let protocolVersion: UInt32
        /// The protocol versions that the device lists.
        package let supportedProtocolVersions: [UInt32]
        /// The tags of the blocks that the CKC must return.
        package let requestedTags: [String]
    }

    /// - Parameters:
    ///   - spc: the bytes to inspect, in any format.
    ///   - module: a module with the credentials; `nil` to inspect the header only.
    package init(_ spc: some Collection<UInt8>, module: KeyServerModule? = nil) {
        let spc = [UInt8](spc)
        let container = Result { () throws(KSMRefusal) in try SPCContainer(spc) }
        let header = try? container.get()
        byteCount = spc.count
        version = try? SPCContainer.version(of: spc)
        certificateSHA1 = header.map { spc[$0.certificateHashRange].hexString }
        payloadLength = header?.payloadRange.count
        let sealed = try? module?.locate(spc)
        certificateSubject = sealed.flatMap { module?.credentials[$0.credentialIndex].certificate.subject }
        let opened = module.map { module in Result { () throws(KSMRefusal) in try module.open(spc) } }
        let context = try? opened?.get()
        blocks = (context?.blocks ?? sealed.flatMap { module?.blocks(of: $0) })?.map(BlockSummary.init)
        facts = context.map(Facts.init)
        problems = Self.problems(opened: opened, container: container) + (context?.findings ?? [])
    }

    private static func problems(
        opened: Result<ServerPlaybackContext, KSMRefusal>?, container: Result<SPCContainer, KSMRefusal>
    ) -> [InspectionFinding] {
        if case .failure(let refusal) = opened { return [InspectionFinding(refusal)] }
        if case nil = opened, case .failure(let refusal) = container { return [InspectionFinding(refusal)] }
        return []
    }
}

extension SPCReport: Encodable {
    private enum CodingKeys: String, CodingKey {
        case bytes, version, certificateSHA1, payloadBytes, certificateSubject, blocks, problems
    }

    /// The facts are on the same level as the other members, so that a script finds `assetID` next to `version`.
    package func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(byteCount, forKey: .bytes)
        try container.encodeIfPresent(version, forKey: .version)
        try container.encodeIfPresent(certificateSHA1, forKey: .certificateSHA1)
        try container.encodeIfPresent(payloadLength, forKey: .payloadBytes)
        try container.encodeIfPresent(certificateSubject, forKey: .certificateSubject)
        try container.encodeIfPresent(blocks, forKey: .blocks)
        try container.encode(problems, forKey: .problems)
        try facts?.encode(to: encoder)
    }
}

extension ServerPlaybackContext {
    /// Remarks about a valid SPC.
    fileprivate var findings: [InspectionFinding] {
        guard !capabilities.contains(.hdcpEnforcement) else { return [] }
        return [
            InspectionFinding(
                .warning, "hdcpNotEnforced", "The device does not say that it can enforce HDCP.",
                "Answer it with no key that demands HDCP type 1.")
        ]
    }
}

extension SPCReport.Facts {
    init(_ context: ServerPlaybackContext) {
        let playback = context.playback
        assetID = context.assetID.description
        assetIDHex = context.assetID.bytes.hexString
        transactionID = context.transactionID.description
        deviceIdentifier = context.deviceIdentifier.description
        playbackState = playback?.state.description
        playbackSession = playback?.session.description
        created = playback?.created
        capabilities = context.capabilities.names
        destination = context.destination
        protocolVersion = context.protocolVersion
        supportedProtocolVersions = context.supportedProtocolVersions
        requestedTags = context.requestedTags.map(\.hex)
    }
}

extension DeviceCapabilities {
    /// The names of the known flags that are set.
    package var names: [String] {
        let known: [(DeviceCapabilities, String)] = [
            (.hdcpEnforcement, "hdcpEnforcement"), (.offlineKey, "offlineKey"),
            (.secureInvalidation, "secureInvalidation"), (.offlineKeyVersion2, "offlineKeyVersion2"),
        ]
        return known.filter { contains($0.0) }.map(\.1)
    }
}

extension KeyServerModule {
    /// The blocks of an SPC that may be invalid in other ways; `nil` if it cannot be decrypted.
    fileprivate func blocks(of sealed: SealedSPC) -> [TLLVBlock]? {
        guard let key = try? payloadKey(of: sealed), let cipher = try? Self.cipher(),
            let payload = try? Self.payload(of: sealed, key, cipher)
        else { return nil }
        return try? TLLVSequence(payload).blocks
    }
}
