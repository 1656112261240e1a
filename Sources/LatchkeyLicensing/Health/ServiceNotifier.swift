import Dispatch
import LatchkeyCore

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// Reports the service's state to systemd, by datagrams to `NOTIFY_SOCKET`.
///
/// Source: `sd_notify(3)`; `Documentation/LicenseServer.md` §11.
package struct ServiceNotifier: Sendable {
    /// A message to systemd.
    package enum Message: Sendable, Hashable {
        /// The service takes requests.
        case ready
        /// It reads its configuration again; `ready` follows.
        case reloading
        /// It is about to end.
        case stopping
        /// It is still alive.
        case watchdog
        /// One line for `systemctl status`.
        case status(String)
    }

    private let path: String
    /// How often to send `watchdog`: half of the time after which systemd kills the process; `nil` if it does not watch.
    package let watchdogPeriod: Duration?

    /// - Parameters:
    ///   - environment: the process's environment. The result is `nil` without a usable `NOTIFY_SOCKET`: a path, or `@` and a name.
    ///   - processID: the process's number: a watchdog for another process is ignored.
    package init?(environment: [String: String], processID: Int32 = getpid()) {
        guard let path = environment["NOTIFY_SOCKET"], path.hasPrefix("/") || path.hasPrefix("@"), path.utf8.count > 1,
            path.utf8.count < MemoryLayout.size(ofValue: sockaddr_un().sun_path), !path.utf8.contains(0)
        else { return nil }
        self.path = path
        let isOurs = environment["WATCHDOG_PID"].map { $0 == "\(processID)" } ?? true
        let microseconds = environment["WATCHDOG_USEC"].flatMap { Int64($0) } ?? 0
        watchdogPeriod = isOurs && microseconds > 1 ? .microseconds(microseconds / 2) : nil
    }

    /// Sends a state. Never waits.
    /// - Returns: whether the datagram was taken.
    @discardableResult
    package func send(_ state: Message) -> Bool {
        #if os(Linux)
            let socket = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
            guard socket >= 0 else { return false }
            defer { close(socket) }
            let text = Array(text(of: state).utf8)
            let sent = withAddress { address, length in
                sendto(socket, text, text.count, Int32(MSG_DONTWAIT) | Int32(MSG_NOSIGNAL), address, length)
            }
            return sent == text.count
        #else
            return false
        #endif
    }

    private func text(of state: Message) -> String {
        switch state {
        case .ready: "READY=1"
        case .reloading: "RELOADING=1\nMONOTONIC_USEC=\(Self.monotonicMicroseconds)"
        case .stopping: "STOPPING=1"
        case .watchdog: "WATCHDOG=1"
        case .status(let text): "STATUS=\(text.onOneLine)"
        }
    }

    /// `CLOCK_MONOTONIC`, which is Dispatch's uptime on Linux. `timespec` is of another module in each kind of build.
    private static var monotonicMicroseconds: UInt64 { DispatchTime.now().uptimeNanoseconds / 1_000 }

    #if os(Linux)
        /// Calls a body with the socket's address; the name of an abstract one begins with a zero and has no end.
        private func withAddress<Result>(_ body: (UnsafePointer<sockaddr>, socklen_t) -> Result) -> Result {
            var address = sockaddr_un()
            address.sun_family = sa_family_t(AF_UNIX)
            let isAbstract = path.hasPrefix("@")
            let name = isAbstract ? [0] + Array(path.utf8.dropFirst()) : Array(path.utf8)
            withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: name) }
            let offset = MemoryLayout<sockaddr_un>.offset(of: \.sun_path) ?? 2
            let length = isAbstract ? offset + name.count : MemoryLayout<sockaddr_un>.size
            return withUnsafePointer(to: address) { pointer in
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, socklen_t(length)) }
            }
        }
    #endif
}
