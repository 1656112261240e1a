public import LatchkeyCore

/// The parts that a preload prepared, key by key, and their cost. One key's failure does not affect the others.
public struct PreloadResult: Sendable {
    /// The stream's FairPlay keys, session keys first, including keys beyond the limit.
    public let keys: [Key]
    /// Why playlists of the stream were not read. If there are any, keys may be missing.
    public let unread: [ContentKeyError]
    /// The number of requests sent, including those for playlists, connections and the player's licenses.
    package let requests: Int
    /// How long it took.
    package let took: Duration
    /// How it ended.
    package let end: End

    /// One key of the stream.
    public struct Key: Sendable {
        /// The key's URI as the playlist states it.
        public let uri: KeyURI
        /// The outcome of each part; every part has one.
        package let outcomes: [Part: Outcome]

        /// The outcome of a part.
        public subscript(part: Part) -> Outcome { outcomes[part] ?? .skipped(.timeIsOver) }

        /// The parts that are ready.
        package var prepared: [Part] { Part.allCases.filter { self[$0].isPrepared } }
    }

    /// The parts that can be fetched before a key is played.
    public enum Part: String, Sendable, Hashable, Codable, CaseIterable {
        /// The application certificate, shared by all keys.
        case certificate
        /// The values that the integration looks up before it requests a license.
        case lookup
        /// A connection to the license service.
        case connection
        /// Credentials for one license request.
        case credentials
        /// The license itself, in a player that holds it.
        case license
    }

    /// The outcome of a part: ready, left out, or failed and tried again when the key is played. Prints which, and why.
    public struct Outcome: Sendable, CustomStringConvertible {
        package enum Kind: Sendable {
            case prepared
            case skipped(Reason)
            case failed(ContentKeyError)
        }

        package let kind: Kind

        package static let prepared = Self(kind: .prepared)
        package static func skipped(_ reason: Reason) -> Self { Self(kind: .skipped(reason)) }
        package static func failed(_ error: ContentKeyError) -> Self { Self(kind: .failed(error)) }

        /// Whether it is ready.
        public var isPrepared: Bool { if case .prepared = kind { true } else { false } }

        /// Why it failed; `nil` if it is ready or was left out.
        public var error: ContentKeyError? { if case .failed(let error) = kind { error } else { nil } }

        public var description: String {
            switch kind {
            case .prepared: "prepared"
            case .skipped(let reason): "skipped, \(reason)"
            case .failed(let error): "failed, \(error)"
            }
        }
    }

    /// Why a part was left out.
    package enum Reason: String, Sendable, Hashable, Codable {
        /// The vendor has no such step, or the license is preloaded, or cannot be fetched at all.
        case notNeeded
        /// A license needs a player that makes its SPC early, and none was given.
        case noPlayer
        /// The player declined, or has the key.
        case playerDeclined
        /// The player's system holds the key already.
        case heldBySystem
        /// `LoaderConfiguration.preparedCredentialsLifetime` is zero.
        case notConfigured
        /// The target of the license request is unknown.
        case hostUnknown
        /// The transport cannot open connections in advance.
        case transportCannot
        /// There are more keys than `PreloadLimits.keys`.
        case beyondLimit
        /// `PreloadLimits.time` was reached first.
        case timeIsOver
        /// The preload or the loader was cancelled first.
        case cancelled
    }

    /// How a preload ended.
    package enum End: Sendable, Hashable {
        /// Everything was tried.
        case complete
        /// `PreloadLimits.time` was reached.
        case timeIsOver
        /// The task or the loader was cancelled.
        case cancelled
    }
}
