// Stores can be tested in debug builds only.
#if DEBUG
    import Foundation
    import LatchkeyCore
    import LatchkeySystem

    @testable import LatchkeyStores

    /// A server on loopback that answers each command of Redis's protocol from a script, or ends the connection.
    ///
    /// Threads end with the connections, and the last with the server.
    final class ScriptedRedis: Sendable {
        /// Returns the answer's bytes for the words of a command; `nil` ends the connection.
        typealias Script = @Sendable ([String]) -> String?

        let port: UInt16
        private let listener: Int32
        private let state: Locked<(script: Script, commands: [[String]])>

        /// - Parameter script: its answers. Defaults to errors.
        /// - Throws: `POSIXError` if there is no port.
        init(_ script: @escaping Script = { _ in "-ERR unknown command\r\n" }) throws {
            let (listener, port) = try DelayingRelay.listen()
            let state = Locked((script: script, commands: [[String]]()))
            (self.listener, self.port, self.state) = (listener, port, state)
            Thread.detachNewThread {
                while true {
                    let client = accept(listener, nil, nil)
                    guard client >= 0 else { break }
                    Thread.detachNewThread {
                        Self.serve(client, state)
                        close(client)
                    }
                }
                // Closed here: another socket would get the number while this thread still has it.
                close(listener)
            }
        }

        deinit { shutdown(listener, Int32(SHUT_RDWR)) }

        /// The commands received, except requests for the slots.
        var commands: [[String]] { state.withLock { $0.commands.filter { $0.first != "CLUSTER" } } }

        /// From now on it answers so.
        func answers(_ script: @escaping Script) { state.withLock { $0.script = script } }

        /// The answer to `CLUSTER SLOTS` if one node has them all.
        static func slots(at port: UInt16) -> String {
            "*1\r\n*3\r\n:0\r\n:16383\r\n*2\r\n$9\r\n127.0.0.1\r\n:\(port)\r\n"
        }

        private static func serve(_ client: Int32, _ state: Locked<(script: Script, commands: [[String]])>) {
            var (reader, buffer) = (RESPReader(), [UInt8](repeating: 0, count: 65_536))
            while true {
                let count = recv(client, &buffer, buffer.count, 0)
                guard count > 0 else { return }
                reader.append(buffer.prefix(count))
                // A command has the form of an answer: a list of values.
                while let command = try? reader.next() {
                    let words = (command.elements ?? []).map { $0.text ?? "" }
                    let script = state.withLock { state in
                        state.commands.append(words)
                        return state.script
                    }
                    guard let answer = script(words) else { return }
                    _ = send(client, answer, answer.utf8.count, Int32(MSG_NOSIGNAL))
                }
            }
        }
    }
#endif
