import Foundation
import LatchkeyCore
import LatchkeyEngines

/// A socket that never blocks longer than it is told. Belongs to one thread.
final class RedisSocket {
    let descriptor: CInt
    private(set) var reader = RESPReader()

    /// Connects.
    /// - Parameter limit: how long it may take in all; looking up a name is not counted.
    init(_ place: RedisAddress.Endpoint, within limit: Duration) throws(StoreError) {
        var failure = "its name was not found"
        for (family, address) in Self.addresses(of: place) {
            let descriptor = socket(family, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
            guard descriptor >= 0 else { continue }
            _ = fcntl(descriptor, F_SETFL, O_NONBLOCK)
            let result = address.withUnsafeBytes { bytes in
                bytes.baseAddress.map {
                    connect(descriptor, $0.assumingMemoryBound(to: sockaddr.self), socklen_t(bytes.count))
                } ?? -1
            }
            var code = result == 0 ? 0 : errno
            if code == EINPROGRESS || code == EAGAIN {
                code = Self.wait(descriptor, POLLOUT, limit) ? Self.error(of: descriptor) : ETIMEDOUT
            }
            if code == 0 {
                var on: CInt = 1
                setsockopt(descriptor, CInt(IPPROTO_TCP), TCP_NODELAY, &on, socklen_t(MemoryLayout<CInt>.size))
                self.descriptor = descriptor
                return
            }
            close(descriptor)
            failure = String(cString: strerror(code))
        }
        descriptor = -1
        throw .redis("There is no connection to Redis: \(failure).")
    }

    deinit { if descriptor >= 0 { close(descriptor) } }

    /// Sends what the socket takes now.
    /// - Returns: how many bytes.
    func send(_ bytes: ArraySlice<UInt8>) throws(StoreError) -> Int {
        let sent = bytes.withUnsafeBytes { Foundation.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
        guard sent < 0 else { return sent }
        guard errno == EAGAIN || errno == EINTR else { throw .redis("The connection to Redis broke.") }
        return 0
    }

    /// Takes what has come.
    func receive() throws(StoreError) {
        var buffer = [UInt8](repeating: 0, count: 65_536)
        let count = recv(descriptor, &buffer, buffer.count, 0)
        if count < 0, errno == EAGAIN || errno == EINTR { return }
        guard count > 0 else { throw .redis("Redis closed the connection.") }
        reader.append(buffer.prefix(count))
    }

    /// The next answer; `nil` until it is there.
    func answer() throws(StoreError) -> RESPValue? { try reader.next() }

    /// Asks one question and waits for the answer, before the connection is in use.
    func ask(_ command: [String], within limit: Duration) throws(StoreError) -> RESPValue {
        _ = try send(RedisCommand(command).bytes[...])
        while true {
            if let answer = try answer() { return answer }
            guard Self.wait(descriptor, POLLIN, limit) else { throw .redis("Redis does not answer.") }
            try receive()
        }
    }

    private static func wait(_ descriptor: CInt, _ event: CInt, _ limit: Duration) -> Bool {
        var waiting = pollfd(fd: descriptor, events: Int16(event), revents: 0)
        return poll(&waiting, 1, limit.wholeMilliseconds) > 0
    }

    private static func error(of descriptor: CInt) -> CInt {
        var (code, length) = (CInt(0), socklen_t(MemoryLayout<CInt>.size))
        getsockopt(descriptor, SOL_SOCKET, SO_ERROR, &code, &length)
        return code
    }

    /// The addresses of a place, as the system has them.
    private static func addresses(of place: RedisAddress.Endpoint) -> [(family: CInt, address: [UInt8])] {
        switch place {
        case .path(let path):
            var address = sockaddr_un()
            address.sun_family = sa_family_t(AF_UNIX)
            withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8.prefix($0.count - 1)) }
            return [(AF_UNIX, withUnsafeBytes(of: address) { Array($0) })]
        case .host(let host, let port):
            var hints = addrinfo()
            hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
            var first: UnsafeMutablePointer<addrinfo>?
            guard getaddrinfo(host, "\(port)", &hints, &first) == 0 else { return [] }
            defer { freeaddrinfo(first) }
            return sequence(first: first, next: { $0?.pointee.ai_next }).prefix { $0 != nil }.compactMap { info in
                guard let info, let address = info.pointee.ai_addr else { return nil }
                let bytes = UnsafeRawBufferPointer(start: address, count: Int(info.pointee.ai_addrlen))
                return (info.pointee.ai_family, Array(bytes))
            }
        }
    }
}

/// A command as it is sent.
struct RedisCommand {
    private(set) var bytes: [UInt8]

    init(_ words: [String]) { self.init(words.map { Array($0.utf8) }) }

    init(_ words: [[UInt8]]) {
        bytes = Array("*\(words.count)\r\n".utf8)
        for word in words { bytes += Array("$\(word.count)\r\n".utf8) + word + [0x0d, 0x0a] }
    }
}

extension StoreError {
    static func redis(_ reason: String, _ kind: Kind = .unavailable, remedy: String? = nil) -> Self {
        StoreError(kind, "redis", reason: reason, remedy: remedy)
    }

    private static let rightsRemedy =
        "Give the user its commands and the keys latchkey:*; `latchkey-server run --check` names what it lacks."

    /// What an error of Redis means.
    init(redis answer: String) {
        let word = answer.prefix { $0 != " " }
        let reason = "Redis answered: \(String(answer.prefix(120)).onOneLine)"
        self =
            switch word {
            case "OOM": .redis(reason, .full)
            case "NOAUTH", "WRONGPASS": .redis(reason, .misconfigured)
            case "NOPERM": .redis(reason, .misconfigured, remedy: Self.rightsRemedy)
            // What a script calls.
            case "ERR" where answer.hasPrefix("ERR The user executing the script can't"):
                .redis(reason, .misconfigured, remedy: Self.rightsRemedy)
            // Only a cluster answers so, and the store does not follow it.
            case "MOVED", "ASK", "CLUSTERDOWN", "CROSSSLOT":
                .redis(
                    reason, .misconfigured,
                    remedy: "Use a Redis that is no cluster: one primary, or several servers with redis+sentinel://.")
            case "WRONGTYPE": .redis(reason, .damaged)
            default: .redis(reason)
            }
    }
}
