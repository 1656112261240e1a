import Foundation

/// An IP address or a range of them, as `192.0.2.7`, `192.0.2.0/24` or `2001:db8::/32`.
///
/// An IPv4 address in IPv6 form, `::ffff:192.0.2.7`, is the IPv4 address.
package struct AddressRange: Sendable, Hashable {
    /// 4 or 16 bytes; the bytes after the prefix are 0.
    let bytes: [UInt8]
    /// The number of leading bits that count.
    let prefix: Int

    /// - Parameter text: an address, with or without a prefix length. The result is `nil` for anything else, including a range whose
    ///   address has bits after its prefix.
    package init?(_ text: String) {
        let parts = text.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
        guard let address = parts.first, let bytes = Self.bytes(of: String(address)) else { return nil }
        self.bytes = bytes
        guard parts.count == 2 else {
            prefix = bytes.count * 8
            return
        }
        let digits = parts[1]
        guard (1...3).contains(digits.utf8.count), digits.utf8.allSatisfy({ $0 >= 0x30 && $0 <= 0x39 }),
            let stated = Int(digits), stated <= bytes.count * 8, Self.cut(bytes, to: stated) == bytes
        else { return nil }
        prefix = stated
    }

    /// A single address.
    /// - Parameter text: an address without a prefix. The result is `nil` for anything else.
    package init?(address text: some StringProtocol) {
        let text = String(text)
        guard !text.utf8.contains(0), let bytes = Self.bytes(of: text) else { return nil }
        (self.bytes, prefix) = (bytes, bytes.count * 8)
    }

    /// The range of all addresses that begin with the same bits as this one.
    /// - Parameters:
    ///   - four: the number of leading bits that count in an IPv4 address.
    ///   - six: the number of leading bits that count in an IPv6 address.
    package init(around range: AddressRange, four: Int, six: Int) {
        let bits = range.isIPv6 ? six : four
        (bytes, prefix) = (Self.cut(range.bytes, to: bits), max(0, min(bits, range.prefix)))
    }

    package var isIPv6: Bool { bytes.count == 16 }

    /// Whether it has more addresses than a private network: an IPv4 range beyond a /8, or an IPv6 one beyond a /20, except for the private
    /// ones, `fc00::/7`. Source: RFC 1918 §3, RFC 4193 §3.1.
    package var isWide: Bool { prefix < (!isIPv6 ? 8 : bytes[0] & 0xfe == 0xfc ? 7 : 20) }

    /// Whether all addresses of another range are in this one.
    package func contains(_ other: AddressRange) -> Bool {
        bytes.count == other.bytes.count && prefix <= other.prefix && Self.cut(other.bytes, to: prefix) == bytes
    }

    /// The ranges that two lists have in common. Two ranges are disjoint, or one contains the other.
    package static func common(_ one: Set<AddressRange>, _ other: Set<AddressRange>) -> Set<AddressRange> {
        one.filter { range in other.contains { $0.contains(range) } }
            .union(other.filter { range in one.contains { $0.contains(range) } })
    }

    private static func cut(_ bytes: [UInt8], to prefix: Int) -> [UInt8] {
        guard prefix < bytes.count * 8 else { return bytes }
        return bytes.enumerated().map { index, byte in
            let bits = max(0, min(8, prefix - index * 8))
            return bits == 0 ? 0 : byte & (0xff << UInt8(8 - bits))
        }
    }

    private static func bytes(of text: String) -> [UInt8]? {
        text.withCString { text in
            var four = in_addr()
            return inet_pton(AF_INET, text, &four) == 1 ? withUnsafeBytes(of: four) { Array($0) } : sixBytes(of: text)
        }
    }

    private static func sixBytes(of text: UnsafePointer<CChar>) -> [UInt8]? {
        var six = in6_addr()
        guard inet_pton(AF_INET6, text, &six) == 1 else { return nil }
        let bytes = withUnsafeBytes(of: six) { Array($0) }
        let mapped = [UInt8](repeating: 0, count: 10) + [0xff, 0xff]
        return bytes.starts(with: mapped) ? Array(bytes.suffix(4)) : bytes
    }
}

extension AddressRange: CustomStringConvertible {
    /// The address as the system writes it, with its prefix unless it is a single address.
    package var description: String {
        var text = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN))
        inet_ntop(bytes.count == 4 ? AF_INET : AF_INET6, bytes, &text, socklen_t(text.count))
        let address = String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
        return prefix == bytes.count * 8 ? address : "\(address)/\(prefix)"
    }
}

extension JSONForm where Value == AddressRange {
    package static let addressRange = JSONForm(
        text: "an address or a range such as 192.0.2.0/24", read: { AddressRange($0) }, write: \.description)

    /// A single address.
    package static let address = JSONForm(
        text: "an IP address", read: { $0.contains("/") ? nil : AddressRange($0) }, write: \.description)
}
