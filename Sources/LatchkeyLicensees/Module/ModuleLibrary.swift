import CSockets
import Foundation
import LatchkeyCore
import LatchkeyFairPlay
import LatchkeyForms

/// A licensee's module as a shared library: JSON text in and out.
///
/// Source: `Documentation/Licensees.md` §6.
private struct ModuleLibrary {
    private typealias Process =
        @convention(c) (
            UnsafePointer<UInt8>?, Int, UnsafeMutablePointer<UnsafeMutablePointer<UInt8>?>?, UnsafeMutablePointer<Int>?
        ) -> Int32
    private typealias Dispose = @convention(c) (UnsafeMutablePointer<UInt8>?, Int) -> Void
    private typealias Version = @convention(c) (UnsafeMutablePointer<UnsafePointer<CChar>?>?) -> Int32
    private typealias DisposeVersion = @convention(c) (UnsafePointer<CChar>?) -> Void

    /// The module's own version, as it states it.
    let version: String
    private let process: Process
    private let dispose: Dispose

    init(path: String) throws(LicenseeError) {
        let library = try SharedLibrary(path: path)
        func required<Function>(_ name: String, as type: Function.Type) throws(LicenseeError) -> Function {
            if let function = library.function(name, as: type) { return function }
            throw LicenseeError(
                .symbolMissing, library: library.path, "It does not export \(name).",
                remedy: "Name the library of Apple's key server module.")
        }
        process = try required("fpsProcessOperations", as: Process.self)
        dispose = try required("fpsDisposeResponse", as: Dispose.self)
        let disposeVersion = try required("fpsDisposeVersion", as: DisposeVersion.self)
        var text: UnsafePointer<CChar>?
        _ = try required("fpsGetVersion", as: Version.self)(&text)
        version = text.map { String(String(cString: $0).prefix(100)).onOneLine } ?? ""
        if let text { disposeVersion(text) }
    }

    /// - Returns: the status, and the output if there is any.
    func answer(_ input: [UInt8]) -> (status: Int32, output: [UInt8]) {
        var output: UnsafeMutablePointer<UInt8>?
        var count = 0
        // The text ends with a zero, in case that the library ignores its length.
        let status = process(input + [0], input.count, &output, &count)
        guard let output else { return (status, []) }
        defer { dispose(output, count) }
        return (status, Array(UnsafeBufferPointer(start: output, count: max(0, count))))
    }
}

/// A worker process of a module: its library, and a socket to the server as standard input.
///
/// Frames to it are a length (4 bytes) and the input; frames from it a length, a status (4) and the output. The first frame from it has the
/// module's version, or says why it does not load.
package enum ModuleWorker {
    /// The verb that runs it, which is not in the help: `latchkey-server module-worker LIBRARY`.
    package static let verb = "module-worker"

    /// Answers until the server ends or closes the socket.
    package static func run(library path: String) -> Never {
        // Service managers and terminals signal workers, too; they end after the server, which drains.
        for number in [SIGINT, SIGTERM, SIGHUP] { signal(number, SIG_IGN) }
        let socket = dup(STDIN_FILENO)
        // The library may print: to nowhere, not into a frame.
        let nothing = open("/dev/null", O_RDWR)
        for file in [STDIN_FILENO, STDOUT_FILENO] { dup2(nothing, file) }
        endWithParent(socket)
        do throws(LicenseeError) {
            let library = try ModuleLibrary(path: path)
            guard send(0, Array(library.version.utf8), to: socket) else { exit(1) }
            while let head = receive(4, from: socket),
                let input = receive(Int(UInt32(bigEndian: head[...])), from: socket)
            {
                let (status, output) = library.answer(input)
                guard send(status, output, to: socket) else { exit(1) }
            }
            exit(0)
        } catch {
            let problem = JSONValue.object(["reason": .text(error.reason), "remedy": .text(error.remedy)])
            _ = send(1, Array(problem.canonicalText.utf8), to: socket)
            exit(1)
        }
    }

    /// Ends the process with the server, even while the library hangs.
    private static func endWithParent(_ socket: Int32) {
        Thread.detachNewThread {
            var ended = pollfd(fd: socket, events: 0, revents: 0)
            while poll(&ended, 1, -1) < 0 {}
            exit(0)
        }
    }

    private static func send(_ status: Int32, _ output: [UInt8], to socket: Int32) -> Bool {
        let head = UInt32(clamping: output.count).bigEndianBytes + UInt32(bitPattern: status).bigEndianBytes
        var rest = (head + output)[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { write(socket, $0.baseAddress, $0.count) }
            guard count > 0 else { return false }
            rest = rest.dropFirst(count)
        }
        return true
    }

    private static func receive(_ count: Int, from socket: Int32) -> [UInt8]? {
        var bytes = [UInt8](repeating: 0, count: count)
        var received = 0
        while received < count {
            let more = bytes.withUnsafeMutableBytes {
                read(socket, $0.baseAddress.map { $0 + received }, count - received)
            }
            guard more > 0 else { return nil }
            received += more
        }
        return bytes
    }
}
