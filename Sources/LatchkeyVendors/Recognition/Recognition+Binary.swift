import Foundation
import LatchkeyCore

// Forms known by their first bytes and their lengths.
extension Recognition {
    /// The form of binary data; `nil` if it may be text.
    static func ofBinary(_ bytes: [UInt8]) -> Recognition? {
        if bytes.isEmpty { return .empty }
        if let whole = wholeContainer(bytes) { return whole }
        if let form = DERForm(bytes, at: 0) { return ofDER(form, bytes) }
        if wasReadAsText(bytes) { return .readAsText(container(readAsText: bytes)) }
        if bytes.starts(with: [0x1f, 0x8b, 8]) { return .gzip }
        return ofMedia(bytes) ?? ofWidevine(bytes) ?? ofPlayReady(bytes) ?? damagedContainer(bytes)
    }

    // SPC and CKC.

    private static func number(_ bytes: [UInt8], at place: Int) -> Int? {
        guard place + 4 <= bytes.count else { return nil }
        return bytes[place..<place + 4].reduce(0) { $0 << 8 | Int($1) }
    }

    /// The length that a header states; `nil` if it lacks one, or has an invalid one: payloads have whole blocks of 16 to 65,536 bytes.
    ///
    /// Source: `Documentation/FairPlay.md` §2 and §6.
    private static func stated(_ container: Container, in bytes: [UInt8]) -> Int? {
        let header = container == .ckc ? 28 : bytes.count > 3 && bytes[3] == 2 ? 304 : 176
        guard let payload = number(bytes, at: header - 4), payload > 0, payload % 16 == 0, payload <= 65_536 else {
            return nil
        }
        return header + payload
    }

    private static func wholeContainer(_ bytes: [UInt8]) -> Recognition? {
        guard bytes.count >= 28, bytes[0] == 0, bytes[1] == 0, bytes[2] == 0, (1...2).contains(bytes[3]) else {
            return nil
        }
        if stated(.spc, in: bytes) == bytes.count {
            let hash = bytes[3] == 2 ? 280..<300 : 152..<172
            return .spc(certificate: bytes[hash].hexString)
        }
        return bytes[3] == 1 && stated(.ckc, in: bytes) == bytes.count ? .ckc : nil
    }

    private static func damagedContainer(_ bytes: [UInt8]) -> Recognition? {
        guard bytes.starts(with: [0, 0, 0]), bytes.count > 3, (1...15).contains(bytes[3]) else { return nil }
        let (version, count) = (bytes[3], bytes.count)
        if version <= 2, let length = stated(.spc, in: bytes) {
            return .damaged(.spc, count: count, stated: length)
        }
        if version > 1, count >= 28 { return .laterVersion(version) }
        guard version == 1, let length = stated(.ckc, in: bytes) else {
            return .damaged(.spcOrCKC, count: count, stated: nil)
        }
        return .damaged(.ckc, count: count, stated: length)
    }

    // Certificates and keys.

    private static func ofDER(_ form: DERForm, _ bytes: [UInt8]) -> Recognition? {
        switch form {
        case .certificate: .certificate
        case .cutCertificate(let stated): .damaged(.certificate, count: bytes.count, stated: stated)
        case .certificateRequest: .certificateRequest
        case .pkcs7: .pkcs7
        case .pkcs12: .pkcs12
        case .privateKey: .privateKey
        case .publicKey: .publicKey
        }
    }

    /// The place of a certificate after the start; `nil` if none. Checks a limited number of places, so that a large file costs little.
    static func certificatePlace(_ bytes: [UInt8]) -> Int? {
        var tries = 32
        for place in bytes.indices.dropLast(2).prefix(1 << 16) where bytes[place] == 0x30 && bytes[place + 1] == 0x82 {
            if case .certificate = DERForm(bytes, at: place) { return place }
            tries -= 1
            if tries == 0 { return nil }
        }
        return nil
    }

    // Bytes that were read as text.

    private static let replacement: [UInt8] = [0xef, 0xbf, 0xbd]

    /// Whether bytes without form were read as UTF-8 and written again: one in eight or more became U+FFFD.
    private static func wasReadAsText(_ bytes: [UInt8]) -> Bool {
        guard bytes.count >= 32, bytes.contains(where: { $0 < 0x20 && !"\t\n\r".utf8.contains($0) }) else {
            return false
        }
        let start = bytes.prefix(1 << 16)
        let marks = start.indices.filter { start[$0] == 0xef && start[$0...].starts(with: replacement) }.count
        return marks >= 8 && marks * 3 >= start.count / 8
    }

    private static func container(readAsText bytes: [UInt8]) -> Container? {
        if bytes.starts(with: [0x30] + replacement) { return .certificate }
        return bytes.starts(with: [0, 0, 0, 1]) || bytes.starts(with: [0, 0, 0, 2]) ? .spcOrCKC : nil
    }

    // Media and other DRM systems.

    private static func ofMedia(_ bytes: [UInt8]) -> Recognition? {
        if bytes.count >= 376, bytes[0] == 0x47, bytes[188] == 0x47 { return .media("an MPEG transport stream") }
        guard bytes.count >= 12 else { return nil }
        switch bytes[4..<8] {
        case ArraySlice("pssh".utf8):
            let system = bytes.count >= 28 ? bytes[12..<28].hexString : ""
            return systems[system].map { .otherSystem(name: $0, message: "pssh box") } ?? .media("a pssh box")
        case let type where boxes.contains(where: type.elementsEqual): return .media("an MP4 file")
        default: return nil
        }
    }

    private static let boxes = ["ftyp", "styp", "sidx", "moov", "moof", "emsg", "prft"].map { Array($0.utf8) }

    /// The systems' identifiers in `pssh` boxes. Source: `Documentation/FairPlay.md` §17.
    private static let systems = [
        "edef8ba979d64acea3c827dcd51d21ed": "Widevine", "9a04f07998404286ab92e65be0885f95": "PlayReady",
    ]

    /// A signed message: its type, and a message of a length that fits.
    private static func ofWidevine(_ bytes: [UInt8]) -> Recognition? {
        guard bytes.count >= 2, bytes[0] == 8, bytes.count == 2 ? bytes[1] == 4 : bytes.count >= 20,
            let words = widevineMessages[bytes[1]]
        else { return nil }
        if bytes.count > 2 {
            guard bytes[2] == 0x12 else { return nil }
            let low = Int(bytes[3] & 0x7f)
            let (length, start) = bytes[3] < 0x80 ? (low, 4) : (low | Int(bytes[4]) << 7, 5)
            guard length >= 8, bytes[3] < 0x80 || bytes[4] < 0x80, start + length <= bytes.count else { return nil }
        }
        return .otherSystem(name: "Widevine", message: words)
    }

    private static let widevineMessages: [UInt8: String] = [
        1: "license request", 2: "license", 3: "error", 4: "request for a service certificate",
        5: "service certificate",
    ]

    /// A PlayReady object: its length, a number of records, and XML in UTF-16.
    private static func ofPlayReady(_ bytes: [UInt8]) -> Recognition? {
        guard bytes.count >= 40, bytes[10...].starts(with: "<\0W\0R\0M\0H\0".utf8) else { return nil }
        return .otherSystem(name: "PlayReady", message: "header")
    }
}

/// The form of a DER value at a place in the bytes, among the forms that people take for a certificate or give by mistake.
///
/// Source: RFC 5280 §4.1, RFC 2986 §4, RFC 5958 §2, RFC 8017 appendix A.1.2, RFC 7292 §4, RFC 5652 §3.
enum DERForm: Equatable {
    /// A whole certificate, and where it ends.
    case certificate(end: Int)
    /// A certificate that states a larger length than there are bytes.
    case cutCertificate(stated: Int)
    case certificateRequest, pkcs7, pkcs12, privateKey, publicKey

    init?(_ bytes: [UInt8], at place: Int) {
        guard let value = DERValue(bytes, at: place), value.tag == 0x30 else { return nil }
        guard value.contents.upperBound <= bytes.count else {
            let length = value.contents.upperBound - place
            guard length <= 65_536, Self.beginsCertificate(bytes, value) else { return nil }
            self = .cutCertificate(stated: length)
            return
        }
        // A version number, which a certificate does not begin with. Named even if the rest is damaged.
        if let first = DERValue(bytes, at: value.contents.lowerBound), first.tag == 2, first.contents.count == 1,
            let version = bytes[value.contents].dropFirst(2).first, version <= 3
        {
            self = version == 3 ? .pkcs12 : .privateKey
            return
        }
        let parts = value.parts(of: bytes)
        switch parts.map(\.tag) {
        case [0x30, 0x30, 0x03]:
            let body = parts[0].parts(of: bytes)
            let tags = Array(body.map(\.tag).drop { $0 == 0xa0 }.prefix(6))
            if tags == [2, 0x30, 0x30, 0x30, 0x30, 0x30] {
                self = .certificate(end: value.contents.upperBound)
            } else if tags.starts(with: [2, 0x30, 0x30, 0xa0]) || tags == [2, 0x30, 0x30] {
                self = .certificateRequest
            } else {
                return nil
            }
        case [0x30, 0x03]: self = .publicKey
        case [0x30, 0x04]: self = .privateKey  // locked by a password
        case let tags where tags.starts(with: [6, 0xa0]): self = .pkcs7
        default: return nil
        }
    }

    private static func beginsCertificate(_ bytes: [UInt8], _ value: DERValue) -> Bool {
        guard let body = DERValue(bytes, at: value.contents.lowerBound), body.tag == 0x30,
            let first = DERValue(bytes, at: body.contents.lowerBound)
        else { return false }
        return first.tag == 0xa0 || first.tag == 2
    }
}

/// A DER value with a length of at most three bytes.
private struct DERValue {
    let tag: UInt8
    /// May reach beyond the bytes.
    let contents: Range<Int>

    init?(_ bytes: [UInt8], at place: Int) {
        guard bytes.indices.contains(place), bytes.indices.contains(place + 1) else { return nil }
        tag = bytes[place]
        let first = Int(bytes[place + 1])
        guard first >= 0x80 else {
            contents = place + 2..<place + 2 + first
            return
        }
        let (count, start) = (first - 0x80, place + 2)
        guard (1...3).contains(count), start + count <= bytes.count else { return nil }
        let length = bytes[start..<start + count].reduce(0) { $0 << 8 | Int($1) }
        contents = start + count..<start + count + length
    }

    /// The values inside; empty if they do not fill it. At most 16.
    func parts(of bytes: [UInt8]) -> [DERValue] {
        var (parts, place): ([DERValue], Int) = ([], contents.lowerBound)
        while place < contents.upperBound, parts.count < 16 {
            guard let part = DERValue(bytes, at: place), part.contents.upperBound <= contents.upperBound else {
                return []
            }
            parts.append(part)
            place = part.contents.upperBound
        }
        return place == contents.upperBound ? parts : []
    }
}
