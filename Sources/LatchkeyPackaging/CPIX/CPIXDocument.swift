package import LatchkeyCore
package import LatchkeyVault

/// Content keys and the media that they encrypt, as packagers, key servers and DRM vendors exchange them outside SPEKE.
///
/// Equal documents have the same meaning; the order of keys counts. Signaling of DRM systems is made anew, not kept.
///
/// Source: `Documentation/LicenseServer.md` §3.
package struct CPIXDocument: Sendable, Hashable {
    /// A version to write. All of 2.3, 2.3.1 and 2.4 are read.
    package enum Version: String, Sendable, Hashable, CaseIterable {
        case version2_3 = "2.3"
        case version2_4 = "2.4"
    }

    /// A key that encrypts media.
    package struct Key: Sendable, Hashable {
        package let kid: KeyID
        /// The content; 2.3 has one for all keys.
        package let content: ContentName
        /// 16 bytes.
        package let value: Secret
        /// The IV, 16 bytes; `nil` if none was stated. A document that is read states all.
        package let iv: Secret?
        /// How media is encrypted; `nil` for any scheme.
        package let scheme: EncryptionScheme?

        /// - Parameter key: key and IV; 16 zeros count as no IV, and are not written.
        package init(kid: KeyID, content: ContentName, key: ContentKey, scheme: EncryptionScheme?) {
            self.init(
                kid: kid, content: content, value: key.key, iv: key.hasStatedIV ? key.iv : nil, scheme: scheme)
        }

        init(kid: KeyID, content: ContentName, value: Secret, iv: Secret?, scheme: EncryptionScheme?) {
            self.kid = kid
            self.content = content
            self.value = value
            self.iv = iv
            self.scheme = scheme
        }

        /// Key and IV; `nil` without an IV.
        package var contentKey: ContentKey? { iv.flatMap { ContentKey(key: value, iv: $0) } }
    }

    /// A crypto period.
    package struct Period: Sendable, Hashable {
        /// The name, used by rules; it begins with a letter or `_`.
        package let id: String
        package let index: UInt32?
        /// Its times and its label as written: `start`, `end`; in 2.4 `startOffset`, `endOffset`, `duration` and `label`, too.
        package let details: [String: String]

        package init(id: String, index: UInt32?, details: [String: String] = [:]) {
            self.id = id
            self.index = index
            self.details = details
        }

        static func detailNames(in version: Version) -> [String] {
            version == .version2_3
                ? ["start", "end"] : ["start", "end", "startOffset", "endOffset", "duration", "label"]
        }
    }

    /// The maximum number of keys in a document.
    package static let keyLimit = 1_000

    /// The keys, without roots of hierarchies.
    package var keys: [Key]
    /// Which key encrypts which tracks. Filters by label and by bit rate are not kept.
    package var contract: EncryptionContract
    /// The crypto periods; empty without rotation.
    package var periods: [Period]

    package init(keys: [Key], contract: EncryptionContract = EncryptionContract(rules: []), periods: [Period] = []) {
        self.keys = keys
        self.contract = contract
        self.periods = periods
    }

    /// The keys for `TenantVault.add`.
    /// - Throws: `cpixIV`, with the kids of all keys without an IV.
    package func entries() throws(PackagingRefusal) -> [(demand: KeyDemand, key: ContentKey)] {
        try checkIVs()
        let indexes = Dictionary(periods.map { ($0.id, $0.index) }) { first, _ in first }
        var entries: [(demand: KeyDemand, key: ContentKey)] = []
        for (number, key) in keys.enumerated() {
            guard let contentKey = key.contentKey else { throw .value("ContentKey \(number + 1)") }
            let rules = contract.rules(of: key.kid)
            let periods = Set(rules.flatMap(\.periods).compactMap { indexes[$0] ?? nil }).sorted()
            let demand = KeyDemand(
                KeyAddress(content: key.content, kid: key.kid), iv: key.iv, scheme: key.scheme, tracks: rules,
                periods: periods)
            entries.append((demand, contentKey))
        }
        return entries
    }

    /// - Throws: `cpixIV`, with the kids of all keys without an IV.
    func checkIVs() throws(PackagingRefusal) {
        let kids = keys.filter { $0.iv?.isStatedIV != true }.map(\.kid)
        guard kids.isEmpty else { throw .ivMissing(kids) }
    }
}

extension CPIXDocument {
    /// A document of a store's keys.
    init(_ opened: [(row: KeyRow, key: ContentKey)]) {
        keys = opened.map { Key(kid: $0.row.kid, content: $0.row.content, key: $0.key, scheme: $0.row.scheme) }
        let indexes = Set(opened.flatMap(\.row.periods)).sorted()
        periods = indexes.map { Period(id: "period_\($0)", index: $0) }
        contract = EncryptionContract(
            named: opened.filter { !$0.row.trackType.isEmpty }.map { row, _ in
                (row.kid, row.trackType, Set(row.periods.map { "period_\($0)" }))
            })
    }
}

extension TenantVault {
    /// The keys of a content, for export: with their periods, the names of their tracks, and the filters that these names represent.
    /// - Throws: `store`, `protection`.
    package func document(of content: ContentName) async throws(VaultError) -> CPIXDocument {
        var opened: [(row: KeyRow, key: ContentKey)] = []
        for row in try await rows(of: content, limit: CPIXDocument.keyLimit) where !row.isDisabled {
            opened.append((row, try await secrets.contentKey(row.sealed)))
        }
        return CPIXDocument(opened)
    }
}
