import LatchkeyCore
package import LatchkeyMedia

/// The content keys of a live stream whose keys change: one for each track and period, all derived from one number.
///
/// For tests and simulations only: anyone who knows the number has the keys.
package struct RotatingKeys: Sendable, Hashable {
    /// The stream's tracks. Names of letters, digits, `_` and `-` fit every vendor.
    package var tracks: [String]
    private let seed: UInt64

    /// - Parameters:
    ///   - tracks: the stream's tracks.
    ///   - seed: any number. The keys depend on it, on the track's name and on the period.
    package init(tracks: [String] = ["audio", "video"], seed: UInt64 = 1) {
        self.tracks = tracks
        self.seed = seed
    }

    /// A track's key in a period; its URI is `skd://live/<track>-<period>`.
    /// - Parameters:
    ///   - track: the track's name.
    ///   - period: the number of earlier key changes.
    package func key(_ track: String, period: Int) -> StoredKey {
        let name = "\(track)-\(period)"
        var generator = SeededGenerator(seed: name.utf8.stableHash(seed: seed))
        let (id, key, iv) = (generator.bytes(16), generator.bytes(16), generator.bytes(16))
        guard let id = KeyID(bytes: id), let content = ContentKey(key: Secret(key), iv: Secret(iv)) else {
            preconditionFailure("16 bytes each")
        }
        return StoredKey(uri: KeyURI("skd://live/\(name)"), id: id, content: content)
    }

    /// The keys of all tracks in a number of periods, for a license authority.
    package func store(periods: Int) -> ContentKeyStore {
        ContentKeyStore((0..<max(0, periods)).flatMap { period in tracks.map { key($0, period: period) } })
    }
}
