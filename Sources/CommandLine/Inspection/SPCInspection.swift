import Foundation
import LatchkeyCore
import LatchkeyFairPlay

/// What is to be seen of an SPC from outside.
struct SPCInspection: Inspection {
    let kind = "spc"
    let bytes: Int
    let version: UInt32
    let certificateSHA1: String
    let payloadBytes: Int

    /// - Throws: `KSMRefusal` with `unsupportedVersion` or `malformedContainer`.
    init(_ bytes: Data) throws {
        let container = try SPCContainer([UInt8](bytes))
        self.bytes = bytes.count
        version = container.version
        certificateSHA1 = container.bytes[container.certificateHashRange].hexString
        payloadBytes = container.payloadRange.count
    }

    var facts: [(name: String, value: String)] {
        [
            ("SPC", "\(bytes) bytes, version \(version)"), ("Certificate", "SHA-1 \(certificateSHA1)"),
            ("Payload", "\(payloadBytes) bytes, encrypted"),
        ]
    }

    var warnings: [String] { ["Without --credentials only the outside is checked."] }
}

/// What an SPC says to the key server whose credentials open it.
struct OpenedSPCInspection: Inspection {
    let outside: SPCInspection
    let inside: Inside
    let warnings: [String]

    /// What stands in the payload. Session key, device identifier and R1 are left out.
    struct Inside: Encodable, Sendable {
        let assetID: String
        let assetIDHex: String
        let transactionID: String
        let protocolVersion: UInt32
        let supportedProtocolVersions: [UInt32]
        let playbackState: String?
        let playbackSession: String?
        let created: Date?
        let destination: StreamingDestination
        let capabilities: [String]
        let returnRequest: [String]
        let blocks: [Block]
    }

    struct Block: Encodable, Sendable {
        let tag: String
        let name: String?
        let valueBytes: Int
        let blockBytes: Int
    }

    /// - Throws: a `KSMRefusal`: what a key server would refuse the SPC for.
    init(_ bytes: Data, _ module: KeyServerModule) throws {
        outside = try SPCInspection(bytes)
        let context = try module.open(bytes)
        inside = Inside(context)
        let isCapable = context.capabilities.contains(.hdcpEnforcement)
        warnings = isCapable ? [] : ["The device does not say that it can enforce HDCP."]
    }

    func encode(to encoder: any Encoder) throws {
        try outside.encode(to: encoder)
        try inside.encode(to: encoder)
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(warnings, forKey: .warnings)
    }

    private enum CodingKeys: String, CodingKey { case warnings }

    var facts: [(name: String, value: String)] {
        let blocks = inside.blocks.map {
            "\($0.tag)  \($0.valueBytes) of \($0.blockBytes) bytes  \($0.name ?? "unknown")"
        }
        let playback = inside.playbackState.map { "\($0), session \(inside.playbackSession ?? "–")" }
        return outside.facts.dropLast() + [
            ("Asset ID", "\(inside.assetID) (\(inside.assetIDHex))"), ("Transaction", inside.transactionID),
            ("Protocol", "version \(inside.protocolVersion) of \(list(inside.supportedProtocolVersions))"),
            ("Playback", playback ?? "not stated"), ("Shown on", inside.destination.rawValue),
            ("Capabilities", inside.capabilities.isEmpty ? "none" : list(inside.capabilities)),
            ("Wants back", inside.returnRequest.isEmpty ? "nothing" : inside.returnRequest.joined(separator: "\n")),
            ("Blocks", blocks.joined(separator: "\n")),
        ]
    }

    private func list(_ items: [some CustomStringConvertible]) -> String {
        items.map(\.description).joined(separator: ", ")
    }
}

extension OpenedSPCInspection.Inside {
    fileprivate init(_ context: ServerPlaybackContext) {
        assetID = "\(context.assetID)"
        assetIDHex = context.assetID.bytes.hexString
        transactionID = "\(context.transactionID)"
        protocolVersion = context.protocolVersion
        supportedProtocolVersions = context.supportedProtocolVersions
        playbackState = context.playback.map { "\($0.state)" }
        playbackSession = context.playback.map { "\($0.session)" }
        created = context.playback?.created
        destination = context.destination
        let names: [(DeviceCapabilities, String)] = [
            (.hdcpEnforcement, "HDCP enforcement"), (.offlineKey, "offline key"),
            (.secureInvalidation, "secure invalidation"), (.offlineKeyVersion2, "offline key version 2"),
        ]
        capabilities = names.filter { context.capabilities.contains($0.0) }.map(\.1)
        returnRequest = context.requestedTags.map(\.description)
        blocks = context.blocks.map {
            OpenedSPCInspection.Block(
                tag: $0.tag.hex, name: $0.tag.name, valueBytes: $0.valueLength, blockBytes: $0.blockLength)
        }
    }
}
