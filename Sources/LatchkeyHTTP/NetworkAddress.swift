import Foundation

/// The origin of a connection, as far as clients can be distinguished: an IPv4 address, or the first 64 bits of an IPv6 address,
/// which a network assigns to one customer.
struct NetworkAddress: Hashable, Sendable {
    private let bits: UInt64
    private let isIPv6: Bool

    /// - Parameter address: the peer's address; `nil` and all other address families count as one address.
    init(_ address: UnsafePointer<sockaddr>?) {
        guard let address else {
            (bits, isIPv6) = (0, false)
            return
        }
        let raw = UnsafeRawPointer(address)
        switch Int32(address.pointee.sa_family) {
        case AF_INET:
            (bits, isIPv6) = (UInt64(raw.loadUnaligned(as: sockaddr_in.self).sin_addr.s_addr), false)
        case AF_INET6:
            var six = raw.loadUnaligned(as: sockaddr_in6.self).sin6_addr
            bits = withUnsafeBytes(of: &six) { $0.loadUnaligned(as: UInt64.self) }
            isIPv6 = true
        default:
            (bits, isIPv6) = (0, false)
        }
    }
}
