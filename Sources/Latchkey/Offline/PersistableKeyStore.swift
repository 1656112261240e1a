public import LatchkeyCore

/// Where an app keeps the keys that play without a network: items by name, each written whole or not at all.
///
/// `FileKeyStore` keeps them in files. Conform your own type to keep them in the Keychain or a database. Four functions are enough, because
/// `OfflineKeys` makes every change a transaction out of them: a new key gets a fresh name, then the index that names it is written, and
/// then the key that it replaces is removed. Whenever the process ends, the index names only complete keys, and items that it does not name
/// are removed the next time.
///
/// A store belongs to one loader. It is called by one task at a time, on no particular isolation; a function that blocks for long should do
/// so on a separate thread. A key opens its content on this device only, and should not be part of a backup.
public protocol PersistableKeyStore: Sendable {
    /// The names of all items.
    func items() async throws -> Set<StoredItem>

    /// The bytes of an item, or `nil`.
    func bytes(of item: StoredItem) async throws -> Secret?

    /// Writes an item, replacing any previous bytes. When this returns, the bytes outlive the process; while it runs, the item has its old
    /// bytes or its new ones, whole.
    func write(_ bytes: Secret, to item: StoredItem) async throws

    /// Removes an item; removing a missing one is not an error.
    func remove(_ item: StoredItem) async throws
}

/// The name of an item in a store: 1 to 64 ASCII letters, digits, dots and hyphens, not starting with a dot. Fit for a file's name.
public struct StoredItem: RawRepresentable, Sendable, Hashable, Codable {
    public let rawValue: String

    /// - Parameter rawValue: the name.
    /// - Returns: `nil` if the text is not a valid name.
    public init?(rawValue: String) {
        let isFit = rawValue.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"): true
            case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "-"): true
            default: false
            }
        }
        guard isFit, (1...64).contains(rawValue.utf8.count), rawValue.first != "." else { return nil }
        self.rawValue = rawValue
    }

    private init(fit name: String) { rawValue = name }

    /// The index: which assets need which keys, and the facts about each key. It holds no key, and is JSON.
    package static let index = Self(fit: "index.json")

    /// A name that no other key has or ever had.
    static func key(using generator: inout some RandomNumberGenerator) -> Self {
        Self(fit: "\(generator.bytes(16).hexString)\(Self.keyEnding)")
    }

    static let keyEnding = ".key"
}
