/// A caller of a route that is not for players: an encryptor, a packager, an operator's program.
package struct Caller: Sendable, Hashable {
    /// Its name for the audit and the log, such as `packager-eu-1`.
    package let name: String
    /// The tenant for which it calls.
    package let tenant: String
    /// Its rights.
    package let rights: Set<CallerRight>

    /// - Parameters:
    ///   - name: its name for the audit and the log.
    ///   - tenant: the tenant for which it calls.
    ///   - rights: its rights.
    package init(name: String, tenant: String, rights: Set<CallerRight>) {
        self.name = name
        self.tenant = tenant
        self.rights = rights
    }
}

/// One right of a caller. An unknown name grants nothing.
package struct CallerRight: RawRepresentable, Sendable, Hashable {
    /// The name in the configuration, such as `speke:read`.
    package let rawValue: String

    package init(rawValue: String) { self.rawValue = rawValue }

    /// Get keys by SPEKE.
    package static let readSPEKE = CallerRight(rawValue: "speke:read")
    /// Get keys by the common-encryption JSON.
    package static let readCommonEncryption = CallerRight(rawValue: "common-encryption:read")
    /// Bring keys in.
    package static let importKeys = CallerRight(rawValue: "keys:import")
    /// Take keys out as CPIX.
    package static let exportKeys = CallerRight(rawValue: "keys:export")
    /// Take slots for licenses that another service makes, and say where their viewers are.
    package static let takeSlots = CallerRight(rawValue: "slots:take")
    /// Disable keys.
    package static let disableKeys = CallerRight(rawValue: "keys:disable")
}
