import LatchkeyCore
import LatchkeyHTTP
import LatchkeyLicensees
import LatchkeyLicensing
import LatchkeyVendorWire

/// The APIs of vendors, with their secrets out of the files that the configuration names.
extension ServerBuilder {
    /// The header fields that pages of a tenant's origins may send: the server's own, and those of the vendors.
    static let pageHeaders: [HTTPHeaderName] =
        ["X-Latchkey-Purpose", "X-Latchkey-Key-URI", "X-Terminate"] + VendorAPIKind.all.flatMap(\.pageFields)

    func apis(of tenant: String, _ vendors: TenantVendors, _ problems: inout ServerProblems) -> [any VendorAPI] {
        vendors.settings.values.compactMap { setting in
            let place = "tenants.\(tenant).vendors.\(setting.name.rawValue)"
            var secrets: [String: Secret] = [:]
            for one in setting.secrets {
                secrets[one.member] = problems.collecting("\(place).\(one.member)") { try secret(one) }
            }
            guard secrets.count == setting.secrets.count else { return nil }
            return problems.collecting(place) { try setting.api(secrets) }
        }
    }

    /// A file's text without white space around it.
    private func secret(_ secret: VendorSecret) throws -> Secret {
        let (text, bytes) = (try file.secrets.text(secret.file), secret.bytes)
        guard bytes ~= text.count else {
            let size = bytes.count == 1 ? "\(bytes.lowerBound)" : "\(bytes.lowerBound) to \(bytes.upperBound)"
            throw Diagnosis.secretUnfit("This secret must have \(size) bytes, and the file has \(text.count).")
        }
        return text
    }
}
