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
        empty: Self(), members: VendorAPIKind.all.map { .optional($0.name.rawValue, \.settings[$0.name], $0.form) })
}
