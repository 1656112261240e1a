import Foundation
import LatchkeyCore

/// The way to a distant server: bytes that come to a port on loopback are forwarded to a socket file, and back, each time late.
///
/// It can be cut and repaired. Threads end with the connections, and the last with the relay.
final class DelayingRelay: Sendable {
    private struct State {
        var isCut = false
        var open: Set<Int32> = []
        var trips = 0
    }

    /// The port on loopback.
    let port: UInt16
    private let listener: Int32
    private let state: Locked<State>

    /// - Parameters:
    ///   - path: the socket file of the server.
    ///   - delay: the delay of each piece, in either direction.
    init(to path: String, delay: Duration) throws {
        let (listener, port) = try Self.listen()
        let state = Locked(State())
        (self.listener, self.port, self.state) = (listener, port, state)
        Thread.detachNewThread {
            while true {
                let client = accept(listener, nil, nil)
                guard client >= 0 else { break }
                guard !state.withLock({ $0.isCut }), let server = Self.connect(path) else {
                    close(client)
                    continue
                }
                state.withLock { $0.open.formUnion([client, server]) }
                let ways = Locked(2)
                for (from, to, isRequest) in [(client, server, true), (server, client, false)] {
                    Thread.detachNewThread {
                        Self.pass(from, to, delay) { if isRequest { state.withLock { $0.trips += 1 } } }
                        for one in [from, to] { shutdown(one, Int32(SHUT_RDWR)) }
                        let isLast = ways.withLock { ways in
                            ways -= 1
                            return ways == 0
                        }
                        guard isLast else { return }
                        state.withLock { $0.open.subtract([client, server]) }
                        for one in [client, server] { close(one) }
                    }
                }
            }
            // Closed here: another socket would get the number while this thread still has it.
            close(listener)
        }
    }

    deinit { shutdown(listener, Int32(SHUT_RDWR)) }

    /// How many pieces went to the server.
    var trips: Int { state.withLock { $0.trips } }

    /// Ends all connections and lets no other begin, or lets them begin again.
    func cut(_ isCut: Bool) {
        state.withLock { state in
            state.isCut = isCut
            if isCut { for one in state.open { shutdown(one, Int32(SHUT_RDWR)) } }
        }
    }

    private static func pass(_ from: Int32, _ to: Int32, _ delay: Duration, _ each: () -> Void) {
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = recv(from, &buffer, buffer.count, 0)
            guard count > 0 else { return }
            each()
            Thread.sleep(forTimeInterval: delay.inSeconds)
            var sent = 0
            while sent < count {
                let more = buffer.withUnsafeBytes { bytes in
                    bytes.baseAddress.map { send(to, $0 + sent, count - sent, Int32(MSG_NOSIGNAL)) } ?? -1
                }
                guard more > 0 else { return }
                sent += more
            }
        }
    }

    /// Listens on loopback, on a new port.
    static func listen() throws -> (Int32, UInt16) {
        let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isListening = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
                bind(listener, pointer, length) == 0 && Glibc.listen(listener, 64) == 0
                    && getsockname(listener, pointer, &length) == 0
            }
        }
        guard isListening else {
            close(listener)
            throw POSIXError(.EADDRNOTAVAIL)
        }
        return (listener, UInt16(bigEndian: address.sin_port))
    }

    private static func connect(_ path: String) -> Int32? {
        let server = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8.prefix($0.count - 1)) }
        let isConnected = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                Glibc.connect(server, $0, socklen_t(MemoryLayout<sockaddr_un>.size)) == 0
            }
        }
        guard isConnected else {
            close(server)
            return nil
        }
        return server
    }
}
