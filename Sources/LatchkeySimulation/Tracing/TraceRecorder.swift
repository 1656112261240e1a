package import Foundation
package import Latchkey
package import LatchkeyCore
package import LatchkeySupport
package import LatchkeyTerminal
import LatchkeyVendors

#if canImport(FoundationNetworking)
    package import FoundationNetworking
#endif

/// `--trace FILE`, the same for every verb that has one.
///
///     let trace = try arguments.traceRecorder()
///     let loader = ContentKeyLoader(vendor, configuration: trace.observing(configuration, as: "VuDRM"))
///     …
///     try trace.write(console)
package final class TraceRecorder: Sendable {
    /// The option.
    package static let option = Option(
        "trace", .path("FILE"), "where to write what happened, as .html, .json (OpenTelemetry) or .har")

    private let file: (path: String, format: KeyTrace.Format)?
    private let recorded = Locked(KeyTrace())

    /// - Parameter path: the file; its extension determines the format. `nil` writes none.
    /// - Throws: `UsageError` for an unknown extension.
    package init(_ path: String?) throws(UsageError) {
        guard let path else {
            file = nil
            return
        }
        guard let format = KeyTrace.Format(rawValue: URL(filePath: path).pathExtension.lowercased()) else {
            throw UsageError(
                "--trace needs a file that ends in .html, .json or .har, not \(path).",
                hint: "Example: --trace trace.html")
        }
        file = (path, format)
    }

    /// A recorder without a file, for a separate page.
    package init() { file = nil }

    /// The trace so far.
    package var trace: KeyTrace { recorded.withLock { $0 } }

    /// A loader's configuration that reports each event to the recorder; with a file, its requests carry a `traceparent`.
    /// - Parameter owner: the loader's name if there are several.
    package func observing(_ configuration: LoaderConfiguration, as owner: String = "") -> LoaderConfiguration {
        var configuration = configuration
        if file != nil { configuration.tracing = .traceparent }
        configuration.observer = { [recorded] event in recorded.withLock { $0.add(event, of: owner) } }
        return configuration
    }

    /// Adds a step that no loader reports.
    package func add(_ span: TraceSpan) { recorded.withLock { $0.add(span) } }

    /// Adds a problem that no event reports; the first one added is the first on the page.
    package func add(_ problem: TraceProblem) { recorded.withLock { $0.add(problem) } }

    /// Adds the error with which a command ends.
    /// - Parameter stage: the activity, if the error does not state it.
    package func add(_ error: any Error, at stage: String) { add(TraceProblem(error, at: stage)) }

    /// A transport for requests outside a loader, such as playlists and media, that reports each request to the recorder.
    /// - Parameter stage: the kind of request; `nil` for playlists and media.
    package func watching(
        _ transport: any Transport, at stage: String? = nil, timekeeper: any Timekeeper = SystemTimekeeper()
    ) -> any Transport {
        NotingTransport(transport, timekeeper: timekeeper) { [self] exchange in
            let served = stage ?? (exchange.isForPlaylist ? "playlist" : "media")
            var span = TraceSpan(
                .request, "\(exchange.request?.method ?? "") \(served)", from: exchange.date ?? timekeeper.date,
                for: .milliseconds(exchange.milliseconds))
            let refused = exchange.reply.flatMap { $0.status >= 400 ? "\($0.status)" : nil }
            (span.stage, span.code, span.exchange) = (served, exchange.code ?? refused, exchange)
            add(span)
        }
    }

    /// Writes the file, if requested. Only its owner may read it.
    /// - Throws: `FileError`.
    package func write(_ console: Console) throws {
        guard let file else { return }
        try OutputFile.write(trace.data(as: file.format), to: file.path, for: .owner, console)
    }
}

extension TraceProblem {
    /// An error in the words of `Failure`.
    /// - Parameter stage: the activity, if the error does not state it.
    package init(_ error: any Error, at stage: String = "playback") {
        let failure = Failure(error)
        self.init(
            stage: failure.stage ?? stage, code: failure.code, reason: failure.reason,
            remedy: failure.remedy)
    }
}

extension Arguments {
    /// The recorder of `--trace`.
    package func traceRecorder() throws(UsageError) -> TraceRecorder {
        try TraceRecorder(self[TraceRecorder.option])
    }
}

extension RecordedExchange {
    /// Whether the request was for a playlist, judged by its address.
    package var isForPlaylist: Bool {
        URL(string: request?.url ?? "")?.pathExtension.lowercased().hasPrefix("m3u") == true
    }
}

/// Records the exchanges of a transport, for requests outside a loader.
package struct NotingTransport: Transport {
    private let base: any Transport
    private let timekeeper: any Timekeeper
    private let note: @Sendable (RecordedExchange) -> Void

    /// - Parameter note: receives a request with its reply, or with the code of the error.
    package init(
        _ base: any Transport, timekeeper: any Timekeeper = SystemTimekeeper(),
        note: @escaping @Sendable (RecordedExchange) -> Void
    ) {
        (self.base, self.timekeeper, self.note) = (base, timekeeper, note)
    }

    package func send(_ request: URLRequest, bodyLimit: Int) async throws -> HTTPReply {
        let (date, start) = (timekeeper.date, timekeeper.uptime)
        func note(_ reply: HTTPReply?, code: String? = nil) {
            self.note(RecordedExchange(request, reply, code: code, at: date, took: timekeeper.uptime - start))
        }
        do {
            let reply = try await base.send(request, bodyLimit: bodyLimit)
            note(reply)
            return reply
        } catch {
            note(nil, code: Failure(error).code)
            throw error
        }
    }

    package func warm(_ origin: URL) async throws -> Bool { try await base.warm(origin) }
}
