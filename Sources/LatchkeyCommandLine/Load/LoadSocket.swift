import Foundation
import LatchkeyCore
import LatchkeyFiles

/// A connection to a server, with one request at a time. Never blocks. Belongs to one thread.
///
/// The reason of an error, after which the connection is of no use, is a clause for a report's line.
final class LoadSocket {
    let descriptor: CInt
    private var outgoing: [UInt8] = []
    private var sent = 0
    private var received: [UInt8] = []
    private var buffer = [UInt8](repeating: 0, count: 16_384)

    /// Begins to connect, to one of the places.
    init(_ places: [ResolvedHost.Address]) throws(TransportError) {
        guard let place = places.randomElement() else {
            throw TransportError(.hostNotFound, "the server's name is not found")
        }
        guard OpenFileBudget.process.take(for: .own) else {
            throw TransportError(.transportFailed, "no descriptor is left")
        }
        #if canImport(Darwin)
            descriptor = socket(place.family, SOCK_STREAM, 0)
        #else
            descriptor = socket(place.family, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        #endif
        guard descriptor >= 0 else { throw TransportError(.transportFailed, "no descriptor is left") }
        _ = fcntl(descriptor, F_SETFL, O_NONBLOCK)
        var on: CInt = 1
        setsockopt(descriptor, CInt(IPPROTO_TCP), TCP_NODELAY, &on, socklen_t(MemoryLayout<CInt>.size))
        #if canImport(Darwin)
            setsockopt(descriptor, SOL_SOCKET, SO_NOSIGPIPE, &on, socklen_t(MemoryLayout<CInt>.size))
        #endif
        let result = place.address.withUnsafeBytes { bytes in
            bytes.baseAddress.map {
                connect(descriptor, $0.assumingMemoryBound(to: sockaddr.self), socklen_t(bytes.count))
            } ?? -1
        }
        if result != 0, errno != EINPROGRESS { throw TransportError(.cannotConnect, Self.text(errno)) }
    }

    deinit {
        if descriptor >= 0 { close(descriptor) }
        OpenFileBudget.process.give()
    }

    /// What to wait for.
    var events: Int16 { Int16(sent < outgoing.count ? POLLOUT : POLLIN) }

    /// Sends a request as far as the connection takes it.
    func begin(_ request: [UInt8]) throws(TransportError) {
        outgoing = request
        sent = 0
        received.removeAll(keepingCapacity: true)
        try push()
    }

    /// Goes on with sending or receiving.
    /// - Returns: the reply once it is whole.
    func advance() throws(TransportError) -> SocketReply? {
        guard sent == outgoing.count else {
            try push()
            return nil
        }
        let count = recv(descriptor, &buffer, buffer.count, 0)
        if count < 0, errno == EAGAIN || errno == EINTR { return nil }
        guard count > 0 else {
            let cause = count == 0 ? "the connection ended" : Self.text(errno)
            throw TransportError(.connectionLost, received.isEmpty ? cause : "\(cause) within a reply")
        }
        received += buffer.prefix(count)
        guard received.count <= 1 << 20 else { throw TransportError(.bodyTooLarge, "the reply is longer than 1 MiB") }
        return try SocketReply(received)
    }

    private func push() throws(TransportError) {
        #if canImport(Darwin)
            let flags: CInt = 0
        #else
            let flags = CInt(MSG_NOSIGNAL)
        #endif
        let count = outgoing.withUnsafeBytes { bytes in
            bytes.baseAddress.map { send(descriptor, $0 + sent, bytes.count - sent, flags) } ?? 0
        }
        if count >= 0 { return sent += count }
        // A connection that is being made takes nothing yet.
        guard errno == EAGAIN || errno == EINTR || errno == ENOTCONN else {
            throw TransportError(.connectionLost, Self.text(errno))
        }
    }

    private static func text(_ code: CInt) -> String { String(cString: strerror(code)).lowercased() }
}

/// A whole reply over HTTP 1.1.
struct SocketReply {
    let reply: LoadReply
    let endsConnection: Bool

    /// - Parameter bytes: what has arrived. The result is `nil` until it is whole.
    /// - Throws: for what is no reply with a length.
    init?(_ bytes: [UInt8]) throws(TransportError) {
        guard let end = bytes.firstRange(of: Array("\r\n\r\n".utf8)) else { return nil }
        var lines = String(decoding: bytes[..<end.lowerBound], as: UTF8.self).split(separator: "\r\n")[...]
        let first = (lines.popFirst() ?? "").split(separator: " ")
        guard first.count > 1, first[0].hasPrefix("HTTP/1."), let status = Int(first[1]), (100...599).contains(status)
        else { throw TransportError(.replyMalformed, "the reply is not HTTP 1.1") }
        var fields: [String: String] = [:]
        for line in lines {
            guard let colon = line.firstIndex(of: ":") else { continue }
            fields[line[..<colon].lowercased()] =
                line[line.index(after: colon)...].trimmingCharacters(in: .whitespaces)
        }
        let isEmpty = status == 204 || status == 304
        guard let length = fields["content-length"].flatMap({ Int($0) }) ?? (isEmpty ? 0 : nil), length >= 0 else {
            throw TransportError(.replyMalformed, "the reply states no length")
        }
        let body = bytes[end.upperBound...]
        guard body.count >= length else { return nil }
        reply = LoadReply(status: status, body: Data(body.prefix(length))) { fields[$0] }
        endsConnection = fields["connection"]?.lowercased() == "close"
    }
}

/// Where a server is.
enum ResolvedHost {
    struct Address: Sendable {
        let family: CInt
        /// A `sockaddr`.
        let address: [UInt8]
    }

    /// The addresses of a host; none if its name is not found. Blocks while it asks.
    static func resolved(_ host: String, _ port: Int) -> [Address] {
        var hints = addrinfo()
        #if canImport(Darwin)
            hints.ai_socktype = SOCK_STREAM
        #else
            hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        #endif
        var first: UnsafeMutablePointer<addrinfo>?
        guard getaddrinfo(host, "\(port)", &hints, &first) == 0 else { return [] }
        defer { freeaddrinfo(first) }
        var places: [Address] = []
        var next = first
        while let one = next?.pointee {
            if let address = one.ai_addr {
                let bytes = UnsafeRawBufferPointer(start: address, count: Int(one.ai_addrlen))
                places.append(Address(family: one.ai_family, address: Array(bytes)))
            }
            next = one.ai_next
        }
        // `localhost` has two addresses, and servers often listen at one.
        return places.filter { $0.family == AF_INET }.isEmpty ? places : places.filter { $0.family == AF_INET }
    }
}
