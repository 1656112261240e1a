/// What an app calls a title: any text, the same in every launch.
///
/// It comes back wherever one loader serves many titles: credentials are asked for with it, and failures, events and stored keys name it.
public struct AssetID: RawRepresentable, Sendable, Hashable, Codable, ExpressibleByStringLiteral,
    CustomStringConvertible
{
    public let rawValue: String

    public init(rawValue: String) { self.rawValue = rawValue }

    /// - Parameter rawValue: any text that no other asset has.
    public init(_ rawValue: String) { self.init(rawValue: rawValue) }

    public init(stringLiteral value: String) { self.init(value) }

    public var description: String { rawValue }
}
