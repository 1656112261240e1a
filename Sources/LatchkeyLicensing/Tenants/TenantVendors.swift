import LatchkeyForms
package import LatchkeyVendorWire

/// The APIs of vendors on a tenant's addresses, for apps that speak to a vendor.
///
/// Source: `Documentation/LicenseServer.md` §5.1.
package struct TenantVendors: Sendable, Equatable {
    /// Secrets are names of files.
    package internal(set) var settings: [VendorAPIName: VendorAPISetting] = [:]

    /// The files that it names.
    var files: [String] { settings.values.flatMap(\.secrets).map(\.file) }

    static let form: ObjectForm<Self> = ObjectForm(
        empty: Self(),
        members: VendorAPIKind.all.map { kind in
            .optional(kind.name.rawValue, \.settings[kind.name], kind.form).explained(
                kind.takesTenantTokens
                    ? "The API of this vendor, with the tenant's own tokens."
                    : "The API of this vendor, with tokens that the vendor's customers make.")
        })
}
