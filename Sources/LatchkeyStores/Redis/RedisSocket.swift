import Foundation
import LatchkeyCore
import LatchkeyEngines
import LatchkeyHTTP

/// A socket that never blocks longer than it is told. Belongs to one thread.
final class RedisSocket {
    let descriptor: CInt
    private(set) var reader = RESPReader()
    private var tls: TLSSession?

    /// Connects.
    /// - Parameters:
    ///   - limit: how long it may take in all; looking up a name is not counted.
    ///   - trust: whom it trusts by TLS; `nil` for a connection without. Defaults to none.
    convenience init(
        _ place: RedisAddress.Endpoint, within limit: Duration, trusting trust: TLSTrust?
    ) throws(StoreError) {
        try self.init(place, within: limit)
        guard let trust, case .host(let host, _) = place else { return }
        guard let tls = TLSSession(trust, to: host, socket: descriptor) else {
            throw .redis("There is no memory for TLS.")
        }
        while true {
            switch tls.shakeHands() {
            case .done:
                self.tls = tls
                return
            case .later:
                guard Self.wait(descriptor, POLLIN, limit) else {
                    throw .redis("Redis does not answer by TLS.", remedy: Self.tlsRemedy)
                }
            case .ended, .failed:
                if let refusal = tls.refusal {
                    throw .redis(
                        "The certificate of Redis at \(host.onOneLine) was refused: \(refusal).", .misconfigured,
                        remedy: "Name its authority with caFile, and the host as the certificate does.")
                }
                throw .redis("Redis does not speak TLS at that port, or wants a certificate.", remedy: Self.tlsRemedy)
            }
        }
    }

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
        if let tls {
            switch bytes.withUnsafeBytes({ tls.send($0) }) {
            case .done(let sent): return sent
            case .later: return 0
            case .ended, .failed: throw .redis("The connection to Redis broke.")
            }
        }
        let sent = bytes.withUnsafeBytes { Foundation.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
        guard sent < 0 else { return sent }
        guard errno == EAGAIN || errno == EINTR else { throw .redis("The connection to Redis broke.") }
        return 0
    }

    /// Takes what has come.
    func receive() throws(StoreError) {
        var buffer = [UInt8](repeating: 0, count: 65_536)
        if let tls {
            // What it holds back rings no bell.
            while true {
                switch buffer.withUnsafeMutableBytes({ tls.receive($0) }) {
                case .done(let count): reader.append(buffer.prefix(count))
                case .later: return
                case .ended: throw .redis("Redis closed the connection.")
                case .failed:
                    // With TLS 1.3 the server refuses a client's certificate only now.
                    throw .redis("Redis ended TLS.", remedy: "See whether it wants a certificate of the client.")
                }
            }
        }
        let count = recv(descriptor, &buffer, buffer.count, 0)
        if count < 0, errno == EAGAIN || errno == EINTR { return }
        guard count > 0 else { throw .redis("Redis closed the connection.") }
        reader.append(buffer.prefix(count))
    }

    /// The next answer; `nil` until it is there.
    func answer() throws(StoreError) -> RESPValue? { try reader.next() }

    /// Asks one question and waits for the answer, before the connection is in use.
    func ask(_ command: [String], within limit: Duration) throws(StoreError) -> RESPValue {
        var unsent = RedisCommand(command).bytes[...]
        while true {
            if !unsent.isEmpty { unsent = unsent.dropFirst(try send(unsent)) }
            if let answer = try answer() { return answer }
            guard Self.wait(descriptor, POLLIN, limit) else { throw .redis("Redis does not answer.") }
            try receive()
        }
    }

    private static let tlsRemedy =
        "Name the port that Redis has as tls-port; certificateFile and keyFile, where it asks for a certificate."

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
            // Where a cluster is named, it is followed: `RedisCluster`.
            case "MOVED", "ASK", "CROSSSLOT":
                .redis(reason, .misconfigured, remedy: "Write redis+cluster://HOST:PORT for a cluster.")
            case "CLUSTERDOWN":
                .redis(reason, remedy: "Run redis-cli --cluster check: no primary has some of the slots.")
            case "WRONGTYPE": .redis(reason, .damaged)
            default: .redis(reason)
            }
    }
}
