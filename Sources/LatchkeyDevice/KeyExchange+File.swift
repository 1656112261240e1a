public import Foundation
import LatchkeyCore
import LatchkeyFairPlay

extension KeyExchange {
    /// Writes the exchange, including its secrets, so that another process can open the CKC. JSON, mode 0600.
    /// - Throws: an error if the file cannot be written.
    public func save(to file: URL) throws {
        let saved = SavedExchange(
            version: SavedExchange.version, spc: spc.revealed, contentIdentifier: contentIdentifier.bytes,
            sessionKey: session.sessionKey.revealed, r1: session.r1.revealed, integrity: session.integrity.revealed,
            antiReplaySeed: session.antiReplaySeed.revealed,
            requestedBlocks: requestedBlocks.map { .init(tag: $0.tag.rawValue, bytes: Data($0.bytes)) })
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys]
        try PrivateFile.write(Secret(encoder.encode(saved)), to: file)
    }

    /// Reads an exchange that `save(to:)` wrote.
    /// - Throws: an error if the file cannot be read or is not a saved exchange.
    public init(file: URL) throws {
        let saved = try JSONDecoder().decode(SavedExchange.self, from: Data(contentsOf: file))
        guard saved.version == SavedExchange.version, saved.sessionKey.count == 16, saved.r1.count == 44,
            saved.antiReplaySeed.count == 16
        else { throw CocoaError(.fileReadCorruptFile, userInfo: [NSFilePathErrorKey: file.lastPathComponent]) }
        self.init(
            spc: Secret(saved.spc), contentIdentifier: ContentIdentifier(bytes: saved.contentIdentifier),
            session: SessionSecrets(
                sessionKey: Secret(saved.sessionKey), r1: Secret(saved.r1), integrity: Secret(saved.integrity),
                antiReplaySeed: Secret(saved.antiReplaySeed)),
            requestedBlocks: saved.requestedBlocks.map {
                RequestedBlock(tag: TLLVTag(rawValue: $0.tag), bytes: [UInt8]($0.bytes))
            })
    }
}

/// The file format of an exchange. A separate type, so that no encoder writes a `KeyExchange` by accident.
private struct SavedExchange: Codable {
    static let version = 1

    let version: Int
    let spc: Data
    let contentIdentifier: Data
    let sessionKey: Data
    let r1: Data
    let integrity: Data
    let antiReplaySeed: Data
    let requestedBlocks: [Block]

    struct Block: Codable {
        let tag: UInt64
        let bytes: Data
    }
}
