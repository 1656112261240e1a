import Foundation
import LatchkeyCore
import LatchkeyHTTP
import LatchkeySystem

/// A socket that never blocks longer than its limit. Belongs to one thread.
final class RedisSocket {
    let descriptor: CInt
    private(set) var reader = RESPReader()
    private var tls: TLSSession?
    /// Why no more bytes come, for callers that have taken the earlier ones; `nil` as long as more may come.
    private var ending: StoreError?
    private let timekeeper: any Timekeeper

    /// Connects.
    /// - Parameters:
    ///   - limit: how long connecting to each address of the host may take, and how long the whole handshake. Looking up a name is not
    ///     counted.
    ///   - trust: the certificates to trust; `nil` for a connection without TLS.
    ///   - timekeeper: the time for limits. Defaults to the machine's.
    /// - Throws: `StoreError`; of the kind `misconfigured` for a certificate that is not trusted.
    convenience init(
        _ place: RedisAddress.Endpoint, within limit: Duration, trusting trust: TLSTrust?,
        timekeeper: any Timekeeper = SystemTimekeeper()
    ) throws(StoreError) {
        try self.init(place, within: limit, timekeeper: timekeeper)
        guard let trust, case .host(let host, _) = place else { return }
        guard let tls = TLSSession(trust, to: host, socket: descriptor) else {
            throw .redis("Memory for TLS is exhausted.")
        }
        let deadline = timekeeper.uptime + limit
        while true {
            switch tls.shakeHands() {
            case .done:
                self.tls = tls
                return
            case .later:
                guard Self.wait(descriptor, POLLIN, until: deadline, timekeeper) else {
                    throw .redis("Redis does not respond over TLS.", remedy: Self.tlsRemedy)
                }
            case .ended, .failed:
                if let refusal = tls.refusal {
                    throw .redis(
                        "The certificate of Redis at \(host.onOneLine) was refused: \(refusal).", .misconfigured,
                        remedy: "Set caFile to its certificate authority, and use the host name in the certificate.")
                }
                throw .redis("Redis does not use TLS on that port, or requires a certificate.", remedy: Self.tlsRemedy)
            }
        }
    }

    /// Connects without TLS.
    /// - Parameters:
    ///   - limit: how long connecting to each address of the host may take. Looking up a name is not counted.
    ///   - timekeeper: the time for limits. Defaults to the machine's.
    /// - Throws: `StoreError`.
    init(
        _ place: RedisAddress.Endpoint, within limit: Duration, timekeeper: any Timekeeper = SystemTimekeeper()
    ) throws(StoreError) {
        self.timekeeper = timekeeper
        var failure = "its name was not found"
        for (family, address) in Self.addresses(of: place) {
            let descriptor = socket(family, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
            guard descriptor >= 0 else {
                failure = String(cString: strerror(errno))
                continue
            }
            _ = fcntl(descriptor, F_SETFL, O_NONBLOCK)
            let result = address.withUnsafeBytes { bytes in
                bytes.baseAddress.map {
                    connect(descriptor, $0.assumingMemoryBound(to: sockaddr.self), socklen_t(bytes.count))
                } ?? -1
            }
            var code = result == 0 ? 0 : errno
            if code == EINPROGRESS || code == EAGAIN {
                let isReady = Self.wait(descriptor, POLLOUT, until: timekeeper.uptime + limit, timekeeper)
                code = isReady ? Self.error(of: descriptor) : ETIMEDOUT
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
        throw .redis("Redis cannot be reached: \(failure).")
    }

    deinit { if descriptor >= 0 { close(descriptor) } }

    /// Sends as much as the socket takes now.
    /// - Returns: the number of bytes.
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

    /// Takes the available bytes.
    /// - Throws: `StoreError` at the end of the connection; if bytes came before the end, `answer` throws it.
    func receive() throws(StoreError) {
        if let ending { throw ending }
        var buffer = [UInt8](repeating: 0, count: 65_536)
        if let tls {
            // Bytes that TLS holds back do not wake the thread.
            var hasCome = false
            while true {
                switch buffer.withUnsafeMutableBytes({ tls.receive($0) }) {
                case .done(let count):
                    reader.append(buffer.prefix(count))
                    hasCome = true
                case .later: return
                case .ended: return try end(.redis("Redis closed the connection."), after: hasCome)
                case .failed:
                    // With TLS 1.3 the server refuses a client's certificate only now.
                    let remedy = "Check whether it requires a client certificate."
                    return try end(.redis("Redis ended TLS.", remedy: remedy), after: hasCome)
                }
            }
        }
        let count = recv(descriptor, &buffer, buffer.count, 0)
        if count < 0, errno == EAGAIN || errno == EINTR { return }
        guard count > 0 else { throw .redis("Redis closed the connection.") }
        reader.append(buffer.prefix(count))
    }

    /// Notes the end, for after the answers that came with it.
    private func end(_ error: StoreError, after hasCome: Bool) throws(StoreError) {
        guard hasCome else { throw error }
        ending = error
    }

    /// The next answer; `nil` until it is there.
    /// - Throws: `StoreError` for bytes that are not an answer, and at the end, once all earlier answers are taken.
    func answer() throws(StoreError) -> RESPValue? {
        if let answer = try reader.next() { return answer }
        if let ending { throw ending }
        return nil
    }

    /// Asks one question and waits for the answer, before the connection is used.
    /// - Parameter limit: how long it may take altogether.
    /// - Throws: `StoreError` if no answer comes in time.
    func ask(_ command: [String], within limit: Duration) throws(StoreError) -> RESPValue {
        let deadline = timekeeper.uptime + limit
        var unsent = RedisCommand(command).bytes[...]
        while true {
            if !unsent.isEmpty { unsent = unsent.dropFirst(try send(unsent)) }
            if let answer = try answer() { return answer }
            let events = unsent.isEmpty ? POLLIN : POLLIN | POLLOUT
            guard Self.wait(descriptor, events, until: deadline, timekeeper) else {
                throw .redis("Redis does not answer.")
            }
            try receive()
        }
    }

    private static let tlsRemedy =
        "Use the port of Redis's tls-port setting; if it requires a certificate, set certificateFile and keyFile."

    /// Waits until the socket is ready.
    /// - Returns: whether it is ready; `false` once the deadline has passed, by the timekeeper's uptime.
    private static func wait(
        _ descriptor: CInt, _ events: CInt, until deadline: Duration, _ timekeeper: any Timekeeper
    ) -> Bool {
        while true {
            let left = deadline - timekeeper.uptime
            guard left > .zero else { return false }
            var waiting = pollfd(fd: descriptor, events: Int16(truncatingIfNeeded: events), revents: 0)
            let count = poll(&waiting, 1, left.wholeMilliseconds)
            // A signal is not an answer.
            guard count < 0, errno == EINTR else { return count > 0 }
        }
    }

    private static func error(of descriptor: CInt) -> CInt {
        var (code, length) = (CInt(0), socklen_t(MemoryLayout<CInt>.size))
        getsockopt(descriptor, SOL_SOCKET, SO_ERROR, &code, &length)
        return code
    }

    /// The addresses of a place, from the system.
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

/// A command in its wire form.
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
        "Give the user its commands and the keys latchkey:*; `latchkey-server run --check` lists missing rights."

    /// The meaning of an error of Redis.
    init(redis answer: String) {
        let word = answer.prefix { $0 != " " }
        let reason = "Redis answered: \(String(answer.prefix(120)).onOneLine)"
        self =
            switch word {
            case "OOM": .redis(reason, .full)
            case "NOAUTH", "WRONGPASS": .redis(reason, .misconfigured)
            case "NOPERM": .redis(reason, .misconfigured, remedy: Self.rightsRemedy)
            // A command that a script calls.
            case "ERR" where answer.hasPrefix("ERR The user executing the script can't"):
                .redis(reason, .misconfigured, remedy: Self.rightsRemedy)
            // If the error names a cluster, it is handled elsewhere: `RedisCluster`.
            case "MOVED", "ASK", "CROSSSLOT":
                .redis(reason, .misconfigured, remedy: "Use redis+cluster://HOST:PORT for a cluster.")
            case "CLUSTERDOWN":
                .redis(reason, remedy: "Run redis-cli --cluster check: some slots have no primary.")
            case "NOREPLICAS":
                .redis(reason, remedy: "Connect as many replicas as min-replicas-to-write requires, or lower it.")
            case "WRONGTYPE": .redis(reason, .damaged)
            default: .redis(reason)
            }
    }
}
