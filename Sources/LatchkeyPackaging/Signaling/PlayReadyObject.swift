import LatchkeyCore
import LatchkeyFairPlay
import LatchkeyVault

/// A PlayReady Object with one header record.
///
/// `length u32 ‖ record count u16 ‖ record type u16 ‖ record length u16 ‖ WRMHEADER in UTF-16LE`, little-endian. Key IDs are in GUID order,
/// that is, with their first three groups reversed.
///
/// Source: `Documentation/LicenseServer.md` §2.4, Microsoft's PlayReady header specification.
struct PlayReadyObject {
    /// The object.
    let bytes: [UInt8]
    /// The header as text.
    let header: String

    /// - Parameters:
    ///   - kid: the key's identifier.
    ///   - key: the key, for the checksum that `cenc` needs.
    ///   - scheme: `cenc` gives a header of version 4.2, all others one of 4.3 without a checksum.
    ///   - licenseURL: the address of licenses; `nil` leaves it out.
    init(kid: KeyID, key: Secret, scheme: EncryptionScheme, licenseURL: String?) throws(OpenSSLError) {
        let id = Self.guid(kid)
        let location = licenseURL.map { "<LA_URL>\(Self.escaped($0))</LA_URL>" } ?? ""
        let kidElement: String
        let version: String
        if scheme == .cenc {
            version = "4.2.0.0"
            let checksum = try Self.checksum(id, key).base64
            kidElement = "<KID ALGID=\"AESCTR\" CHECKSUM=\"\(checksum)\" VALUE=\"\(id.base64)\"></KID>"
        } else {
            version = "4.3.0.0"
            kidElement = "<KID ALGID=\"AESCBC\" VALUE=\"\(id.base64)\"></KID>"
        }
        header =
            "<WRMHEADER xmlns=\"http://schemas.microsoft.com/DRM/2007/03/PlayReadyHeader\" version=\"\(version)\">"
            + "<DATA><PROTECTINFO><KIDS>\(kidElement)</KIDS></PROTECTINFO>\(location)</DATA></WRMHEADER>"
        let record = header.utf16.flatMap { [UInt8(truncatingIfNeeded: $0), UInt8(truncatingIfNeeded: $0 >> 8)] }
        let length = UInt32(clamping: record.count + 10)
        let recordLength = UInt32(clamping: record.count)
        bytes = length.bytes.reversed() + [1, 0, 1, 0] + recordLength.bytes.reversed().prefix(2) + record
    }

    /// The object as XML for a `ContentProtection` element of DASH.
    var xml: String { "<pro xmlns=\"urn:microsoft:playready\">\(bytes.base64)</pro>" }

    private static func guid(_ kid: KeyID) -> [UInt8] {
        let bytes = [UInt8](kid.bytes)
        return [3, 2, 1, 0, 5, 4, 7, 6].map { bytes[$0] } + bytes[8...]
    }

    /// The first 8 bytes of the key ID in GUID order, encrypted with the key in one block.
    private static func checksum(_ id: [UInt8], _ key: Secret) throws(OpenSSLError) -> [UInt8] {
        var block = id
        let cipher = try AESCBC()
        try key.withUnsafeBytes { key throws(OpenSSLError) in try cipher.apply(.encrypt, to: &block, key: key) }
        return Array(block.prefix(8))
    }

    private static func escaped(_ url: String) -> String {
        url.replacing("&", with: "&amp;").replacing("<", with: "&lt;").replacing(">", with: "&gt;")
    }
}
