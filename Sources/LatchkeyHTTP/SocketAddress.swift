import CSockets
import Foundation

/// An IP address and a port as system calls take them.
struct SocketAddress {
    private var storage = sockaddr_storage()
    /// Whether it is an IPv6 address.
    let isIPv6: Bool

    /// - Parameters:
    ///   - text: an IPv4 or IPv6 address. The result is `nil` for anything else, also for names.
    ///   - port: the TCP port.
    init?(_ text: String, port: UInt16) {
        var four = sockaddr_in()
        var six = sockaddr_in6()
        if inet_pton(AF_INET, text, &four.sin_addr) == 1 {
            four.sin_family = sa_family_t(AF_INET)
            four.sin_port = port.bigEndian
            isIPv6 = false
            withUnsafeMutableBytes(of: &storage) { $0.storeBytes(of: four, as: sockaddr_in.self) }
        } else if inet_pton(AF_INET6, text, &six.sin6_addr) == 1 {
            six.sin6_family = sa_family_t(AF_INET6)
            six.sin6_port = port.bigEndian
            isIPv6 = true
            withUnsafeMutableBytes(of: &storage) { $0.storeBytes(of: six, as: sockaddr_in6.self) }
        } else {
            return nil
        }
    }

    /// Calls a body with a pointer to the address, which is valid during the call.
    func withPointer<Result>(_ body: (UnsafePointer<sockaddr>) throws -> Result) rethrows -> Result {
        try withUnsafePointer(to: storage) { pointer in
            try pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { try body($0) }
        }
    }

    /// The text of a peer's address without its port; empty for another address family.
    static func text(of address: UnsafePointer<sockaddr>) -> String {
        var text = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN))
        let raw = UnsafeRawPointer(address)
        switch Int32(address.pointee.sa_family) {
        case AF_INET:
            var four = raw.loadUnaligned(as: sockaddr_in.self).sin_addr
            inet_ntop(AF_INET, &four, &text, socklen_t(text.count))
        case AF_INET6:
            var six = raw.loadUnaligned(as: sockaddr_in6.self).sin6_addr
            inet_ntop(AF_INET6, &six, &text, socklen_t(text.count))
        default:
            return ""
        }
        return String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}
