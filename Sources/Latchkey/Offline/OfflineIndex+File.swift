import Foundation
import LatchkeyCore

/// The index as JSON, in version 1.
extension OfflineIndex {
    /// The version that this library writes. A new one is needed when an older library would read the index wrongly.
    static let version = 1

    private struct Header: Decodable {
        let version: Int
    }

    private struct File: Codable {
        let version: Int
        /// Seconds since 1970, as all dates of the file.
        let latest: Date
        let assets: [Asset]
        let keys: [KeyRecord]
    }

    private struct Asset: Codable {
        let id: AssetID
        let keys: [KeyURI]
    }

    /// Reads an index.
    /// - Throws: `indexTooNew` or `indexDamaged`.
    init(file: Secret) throws(OfflineError) {
        let decoder = JSONDecoder()
        decoder.dateDecodingStrategy = .secondsSince1970
        let data = file.revealed
        let found: File
        do {
            let version = try decoder.decode(Header.self, from: data).version
            guard version <= Self.version else {
                throw OfflineError(
                    .keyIndexTooNew, "The index of the stored keys has version \(version); this one is \(Self.version)."
                )
            }
            found = try decoder.decode(File.self, from: data)
        } catch let error as OfflineError {
            throw error
        } catch {
            throw OfflineError(.keyIndexDamaged, "The index of the stored keys, \(data.count) bytes, cannot be read.")
        }
        self.init(latest: found.latest)
        for asset in found.assets { assets[asset.id] = Set(asset.keys) }
        for key in found.keys { keys[key.uri] = key }
    }

    /// The bytes to write.
    func file() throws(OfflineError) -> Secret {
        let encoder = JSONEncoder()
        encoder.dateEncodingStrategy = .secondsSince1970
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        let file = File(
            version: Self.version, latest: latest,
            assets: assets.map { Asset(id: $0, keys: $1.sorted { $0.raw < $1.raw }) }
                .sorted { $0.id.rawValue < $1.id.rawValue },
            keys: keys.values.sorted { $0.uri.raw < $1.uri.raw })
        do { return Secret(try encoder.encode(file)) } catch {
            throw OfflineError(.keyStoreUnwritable, "The index of the stored keys cannot be written as JSON.")
        }
    }
}
