import Foundation
import LatchkeyLicensing
import LatchkeyTesting
import Testing

#if canImport(Glibc)
    import Glibc

    @Suite(.timeLimit(.minutes(5))) struct ServiceNotifierTests {
        /// A datagram socket like systemd's.
        private final class Listener {
            let socket: Int32

            init(_ path: String) throws {
                socket = Glibc.socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue), 0)
                var address = sockaddr_un()
                address.sun_family = sa_family_t(AF_UNIX)
                let name = path.hasPrefix("@") ? [0] + Array(path.utf8.dropFirst()) : Array(path.utf8) + [0]
                withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: name) }
                let length = socklen_t(2 + name.count)
                let isBound = withUnsafePointer(to: address) {
                    $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { bind(socket, $0, length) }
                }
                try #require(isBound == 0)
            }

            deinit { close(socket) }

            var next: String? {
                var bytes = [UInt8](repeating: 0, count: 500)
                let count = recv(socket, &bytes, bytes.count, Int32(MSG_DONTWAIT))
                return count < 0 ? nil : String(decoding: bytes.prefix(count), as: UTF8.self)
            }
        }

        private static let folder = try? TemporaryFolder()

        @Test(arguments: [folder?.path("notify") ?? "", "@latchkey-test-\(UUID().uuidString)"])
        func `states arrive as datagrams, at a path and at an abstract name`(path: String) throws {
            let listener = try Listener(path)
            let notifier = try #require(ServiceNotifier(environment: ["NOTIFY_SOCKET": path]))
            #expect(notifier.send(.ready))
            #expect(notifier.send(.reloading))
            #expect(notifier.send(.watchdog))
            #expect(notifier.send(.status("two\nlines")))
            #expect(notifier.send(.stopping))
            #expect(listener.next == "READY=1")
            #expect(listener.next?.hasPrefix("RELOADING=1\nMONOTONIC_USEC=") == true)
            #expect(listener.next == "WATCHDOG=1")
            #expect(listener.next == "STATUS=two\\u{a}lines")
            #expect(listener.next == "STOPPING=1")
            #expect(listener.next == nil)
        }

        @Test func `a missing listener is harmless`() throws {
            let path = try #require(Self.folder).path("nobody")
            #expect(try #require(ServiceNotifier(environment: ["NOTIFY_SOCKET": path])).send(.ready) == false)
        }

        @Test(arguments: [
            [:], ["NOTIFY_SOCKET": ""], ["NOTIFY_SOCKET": "vsock:2:1"],
            ["NOTIFY_SOCKET": "/" + String(repeating: "x", count: 200)],
        ])
        func `without a socket there is no notifier`(environment: [String: String]) {
            #expect(ServiceNotifier(environment: environment) == nil)
        }

        @Test func `the watchdog is fed twice per period, if it watches this process`() {
            let period = { (more: [String: String]) in
                ServiceNotifier(environment: ["NOTIFY_SOCKET": "/x"].merging(more) { $1 }, processID: 7)?.watchdogPeriod
            }
            #expect(period(["WATCHDOG_USEC": "10000000"]) == .seconds(5))
            #expect(period(["WATCHDOG_USEC": "10000000", "WATCHDOG_PID": "7"]) == .seconds(5))
            #expect(period(["WATCHDOG_USEC": "10000000", "WATCHDOG_PID": "8"]) == nil)
            #expect(period(["WATCHDOG_USEC": "-1"]) == nil)
            #expect(period([:]) == nil)
        }
    }
#endif
