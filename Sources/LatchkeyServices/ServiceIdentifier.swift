/// The name of an emulated vendor's service, such as `vudrm`; also the first part of its path on a shared host.
public struct ServiceIdentifier: RawRepresentable, Sendable, Hashable, Codable, ExpressibleByStringLiteral {
    /// Lower-case letters, digits and dashes.
    public let rawValue: String
    /// - Parameter rawValue: the name.
    public init(rawValue: String) { self.rawValue = rawValue }
    public init(stringLiteral value: String) { self.init(rawValue: value) }
}

extension ServiceIdentifier: CustomStringConvertible {
    public var description: String { rawValue }
}
