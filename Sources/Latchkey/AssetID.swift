/// An app's name for a title: any text, the same in every launch.
///
/// It is used wherever one loader serves many titles: requests for credentials, failures, events and stored keys name it.
public struct AssetID: RawRepresentable, Sendable, Hashable, Codable, ExpressibleByStringLiteral,
    CustomStringConvertible
{
    public let rawValue: String

    public init(rawValue: String) { self.rawValue = rawValue }

    /// - Parameter rawValue: any text that is unique among the assets.
    public init(_ rawValue: String) { self.init(rawValue: rawValue) }

    public init(stringLiteral value: String) { self.init(value) }

    public var description: String { rawValue }
}
