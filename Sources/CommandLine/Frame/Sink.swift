import Foundation
import LatchkeyCore

/// Takes the tool's texts.
protocol Sink: Sendable {
    func write(_ data: Data)
    /// Why something that was written is lost; nil while nothing is, or where nobody wants to read it any more.
    var failure: String? { get }
}

/// An open file, such as standard output.
final class FileSink: Sink {
    private struct State {
        let handle: FileHandle
        var isClosed = false
        var failure: String?
    }

    private let state: Locked<State>

    init(_ handle: sending FileHandle) { state = Locked(State(handle: handle)) }

    var failure: String? { state.withLock { $0.failure } }

    func write(_ data: Data) {
        state.withLock { state in
            guard !state.isClosed else { return }
            state.isClosed = !OutputFile.write(data, to: state.handle.fileDescriptor)
            // A reader that has seen enough is no failure of ours.
            if state.isClosed, errno != EPIPE { state.failure = String(cString: strerror(errno)) }
        }
    }
}

/// Keeps what is written; for tests.
final class MemorySink: Sink {
    private let data = Locked(Data())

    var bytes: Data { data.withLock { $0 } }
    var text: String { String(decoding: bytes, as: UTF8.self) }
    var failure: String? { nil }
    func write(_ data: Data) { self.data.withLock { $0.append(data) } }
}
