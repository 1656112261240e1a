/// The purpose of a request to a vendor's service. Names it in logs and for fault switches.
public struct ServiceEndpoint: RawRepresentable, Sendable, Hashable, Codable, ExpressibleByStringLiteral {
    /// The name.
    public let rawValue: String
    /// - Parameter rawValue: the name.
    public init(rawValue: String) { self.rawValue = rawValue }
    public init(stringLiteral value: String) { self.init(rawValue: value) }

    /// The application certificate.
    public static let certificate: ServiceEndpoint = "certificate"
    /// The license.
    public static let license: ServiceEndpoint = "license"
    /// The delivery document of JW Platform.
    public static let delivery: ServiceEndpoint = "delivery"
    /// The entitlement server of ExpressPlay.
    public static let entitlement: ServiceEndpoint = "entitlement"
    /// The token service of ExpressPlay.
    public static let token: ServiceEndpoint = "token"
    /// The on-premise license server of ExpressPlay.
    public static let onPremise: ServiceEndpoint = "onPremise"
    /// The setup of a secure session at NAGRA.
    public static let sessionSetup: ServiceEndpoint = "sessionSetup"
    /// The heartbeat of a secure session at NAGRA.
    public static let sessionHeartbeat: ServiceEndpoint = "sessionHeartbeat"
    /// The end of a secure session at NAGRA.
    public static let sessionTeardown: ServiceEndpoint = "sessionTeardown"
}

extension ServiceEndpoint: CustomStringConvertible {
    public var description: String { rawValue }
}
