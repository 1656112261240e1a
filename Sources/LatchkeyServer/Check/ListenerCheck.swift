import Foundation
import LatchkeyCore
import LatchkeyLicensing
import LatchkeySystem

/// A check whether a listener could be opened, by taking its address for a moment without listening.
struct ListenerCheck: Sendable {
    private let name: String
    private let listener: ServerSettings.Listener

    init(_ name: String, _ listener: ServerSettings.Listener) { (self.name, self.listener) = (name, listener) }

    func look(on threads: FileThreads, _ problems: inout ServerProblems, _ notices: inout [String]) async {
        guard listener.port != 0 else { return }
        let port = UInt16(clamping: listener.port)
        let place = "\(listener.address.onOneLine.prefix(60)):\(port)"
        switch Self.bind(listener.address, port) {
        case 0: break
        case EADDRINUSE:
            let holder = try? await threads.run("/proc", within: .seconds(30), { PortHolder.name(of: port) })
            notices.append(
                "\(name).port: \(place) is in use\((holder ?? nil).map { " by \($0)" } ?? ""). If this is the server that runs on this machine, ignore this; otherwise stop the other program, or choose another port."
            )
        case EADDRNOTAVAIL:
            problems.add(
                .init(
                    "\(name).address", "\(place) is not an address of this machine.",
                    "Use one of its addresses, or 0.0.0.0 for all."))
        case EACCES:
            problems.add(
                .init(
                    "\(name).port", "This user may not listen on \(place).",
                    "Use a port of 1024 or higher, or give the server the capability CAP_NET_BIND_SERVICE."))
        case EINVAL:
            problems.add(
                .init(
                    "\(name).address", "“\(listener.address.onOneLine.prefix(60))” is not an IP address.",
                    "Use an address such as 127.0.0.1, 0.0.0.0 or ::1."))
        case let code:
            problems.add(
                .init(
                    "\(name).address", "The server cannot listen on \(place): \(String(cString: strerror(code))).",
                    "Correct the address and the port."))
        }
    }

    /// Takes an address and releases it immediately.
    /// - Returns: 0, or the system's error; `EINVAL` for an invalid address.
    private static func bind(_ address: String, _ port: UInt16) -> Int32 {
        var hints = addrinfo()
        hints.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV | AI_PASSIVE
        #if os(Linux)
            hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        #else
            hints.ai_socktype = SOCK_STREAM
        #endif
        var first: UnsafeMutablePointer<addrinfo>?
        guard getaddrinfo(address, "\(port)", &hints, &first) == 0, let info = first?.pointee else { return EINVAL }
        defer { freeaddrinfo(first) }
        let descriptor = socket(info.ai_family, info.ai_socktype, 0)
        guard descriptor >= 0 else { return errno }
        defer { close(descriptor) }
        var on: CInt = 1
        // As a server does: remains of closed connections do not block the address.
        setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &on, socklen_t(MemoryLayout<CInt>.size))
        return Foundation.bind(descriptor, info.ai_addr, info.ai_addrlen) == 0 ? 0 : errno
    }
}

/// The process that listens on a port of this machine, from `/proc`. Only processes of the same user are seen, by root all.
enum PortHolder {
    /// The process, such as `latchkey-server (process 123)`; `nil` if none is seen.
    static func name(of port: UInt16) -> String? {
        let sockets = Set(["tcp", "tcp6"].flatMap { inodes(of: port, in: "/proc/net/\($0)") }.map { "socket:[\($0)]" })
        guard !sockets.isEmpty, let all = try? FileManager.default.contentsOfDirectory(atPath: "/proc") else {
            return nil
        }
        let holders = all.compactMap { Int32($0) }.filter { process in
            let folder = "/proc/\(process)/fd"
            // Ends, or is another user's.
            guard let files = try? FileManager.default.contentsOfDirectory(atPath: folder) else { return false }
            return files.contains { file in
                (try? FileManager.default.destinationOfSymbolicLink(atPath: "\(folder)/\(file)")).map(sockets.contains)
                    ?? false
            }
        }
        // A new process has its parent's sockets until it runs its own program.
        let first = holders.first { process in parent(of: process).map { !holders.contains($0) } ?? false }
        guard let process = first ?? holders.first else { return nil }
        let name = (try? String(contentsOfFile: "/proc/\(process)/comm", encoding: .utf8)) ?? "a program"
        return "\(name.trimmingCharacters(in: .whitespacesAndNewlines).onOneLine) (process \(process))"
    }

    /// - Returns: `nil` for a process that has ended.
    private static func parent(of process: Int32) -> Int32? {
        guard let bytes = try? PlainFile.read("/proc/\(process)/status", limit: 1 << 16) else { return nil }
        let lines = String(decoding: bytes, as: UTF8.self).split(separator: "\n")
        return lines.first { $0.hasPrefix("PPid:") }.flatMap { Int32($0.dropFirst(5).trimmingPrefix("\t")) }
    }

    /// The inodes of the sockets that listen, the tenth field; the second is the local address, the fourth the state.
    private static func inodes(of port: UInt16, in table: String) -> [Substring] {
        let hex = String(port, radix: 16, uppercase: true)
        let suffix = ":" + String(repeating: "0", count: 4 - hex.count) + hex
        // A table of the kernel has no size, and Foundation's readers end within its first page.
        guard let bytes = try? PlainFile.read(table, limit: 1 << 28) else { return [] }
        return String(decoding: bytes, as: UTF8.self).split(separator: "\n").dropFirst().compactMap { line in
            let fields = line.split(separator: " ")
            guard fields.count > 9, fields[1].hasSuffix(suffix), fields[3] == "0A" else { return nil }
            return fields[9]
        }
    }
}
