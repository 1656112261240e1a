package import Foundation
import LatchkeyCore
import LatchkeyPlayback

/// Receives the tool's output.
package protocol Sink: Sendable {
    func write(_ data: Data)
    /// The reason that written data was lost; `nil` if none was lost, or if the reader closed its end.
    var failure: String? { get }
}

/// An open file, such as standard output.
package final class FileSink: Sink {
    private struct State {
        let handle: FileHandle
        var isClosed = false
        var failure: String?
    }

    private let state: Locked<State>

    package init(_ handle: sending FileHandle) { state = Locked(State(handle: handle)) }

    package var failure: String? { state.withLock { $0.failure } }

    package func write(_ data: Data) {
        state.withLock { state in
            guard !state.isClosed else { return }
            state.isClosed = !PartialFile.write(data, to: state.handle.fileDescriptor)
            // A reader that closed its end is not our failure.
            if state.isClosed, errno != EPIPE { state.failure = String(cString: strerror(errno)) }
        }
    }
}
