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

    private init(_ info: addrinfo, _ address: UnsafePointer<sockaddr>) {
        isIPv6 = info.ai_family == AF_INET6
        withUnsafeMutableBytes(of: &storage) {
            $0.copyMemory(from: UnsafeRawBufferPointer(start: address, count: min($0.count, Int(info.ai_addrlen))))
        }
    }

    /// The addresses of a host, of IPv4 if it has any; none if its name is not found. Blocks while it asks.
    static func resolved(_ host: String, port: Int) -> [SocketAddress] {
        var (hints, first) = (addrinfo(), UnsafeMutablePointer<addrinfo>?.none)
        hints.ai_protocol = Int32(IPPROTO_TCP)
        guard getaddrinfo(host, "\(port)", &hints, &first) == 0 else { return [] }
        defer { freeaddrinfo(first) }
        let found = sequence(state: first) { next -> SocketAddress?? in
            guard let info = next?.pointee else { return nil }
            next = info.ai_next
            return .some(info.ai_addr.map { SocketAddress(info, $0) })
        }.compactMap(\.self)
        // `localhost` has two addresses, and servers often listen at one.
        let four = found.filter { !$0.isIPv6 }
        return four.isEmpty ? found : four
    }

    /// How many bytes the address has.
    var length: socklen_t {
        socklen_t(isIPv6 ? MemoryLayout<sockaddr_in6>.size : MemoryLayout<sockaddr_in>.size)
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
