import Foundation
import FoundationNetworking
import LatchkeyCore

/// A body fetched over HTTP, and where it came from in the end.
struct Download: Sendable {
    let body: Data
    /// The address after redirects, as text.
    let uri: String

    /// Fetches a body, at most a number of bytes, within half a minute.
    ///
    /// - Throws: `DownloadError`.
    static func from(_ address: String, limit: Int) async throws -> Download {
        guard let url = URL(string: address) else { throw DownloadError.malformed(address) }
        let receiver = Receiver(limit: limit)
        let configuration = URLSessionConfiguration.ephemeral
        configuration.timeoutIntervalForRequest = 15
        configuration.timeoutIntervalForResource = 30
        let session = URLSession(configuration: configuration, delegate: receiver, delegateQueue: nil)
        defer { session.invalidateAndCancel() }
        let task = session.dataTask(with: url)
        let end = await withTaskCancellationHandler {
            await withCheckedContinuation { receiver.start(task, $0) }
        } onCancel: {
            task.cancel()
        }
        return try end.download(of: address, limit: limit)
    }

    /// Whether a text is an address that this fetches.
    static func isAddress(_ text: String) -> Bool {
        ["http://", "https://"].contains { text.lowercased().hasPrefix($0) }
    }
}

/// Why a body was not fetched. Addresses show without their secrets.
struct DownloadError: DiagnosableError {
    let code: String
    let reason: String
    let remedy: String

    static func malformed(_ address: String) -> Self {
        DownloadError(code: "malformedAddress", reason: "\(shown(address)) is no URL.", remedy: "Check the address.")
    }

    static func failed(_ address: String, _ number: Int) -> Self {
        DownloadError(
            code: "unreachable", reason: "\(shown(address)) could not be loaded (error \(number)).",
            remedy: "Check that the host is up and that the address is right.")
    }

    static func status(_ address: String, _ status: Int) -> Self {
        DownloadError(
            code: "httpStatus", reason: "\(shown(address)) answered with status \(status).",
            remedy: "Check the address, and the token in it if it has one.")
    }

    static func relative(_ reference: String) -> Self {
        DownloadError(
            code: "relativeAddress", reason: "\(shown(reference)) is relative to an unknown place.",
            remedy: "Say with --base where the playlist came from.")
    }

    private static func shown(_ address: String) -> String { Redaction.standard.redacted(urlText: address) }
}

/// How a download ended.
private struct End: Sendable {
    var body = Data()
    var isTooLarge = false
    var status: Int?
    var uri: String?
    var errorNumber: Int?

    func download(of address: String, limit: Int) throws -> Download {
        if isTooLarge { throw FileError.tooLarge(Redaction.standard.redacted(urlText: address), limit: limit) }
        if let errorNumber { throw DownloadError.failed(address, errorNumber) }
        guard let status, (200..<300).contains(status) else { throw DownloadError.status(address, status ?? 0) }
        return Download(body: body, uri: uri ?? address)
    }
}

/// Collects one body; stops at the limit instead of reading on.
private final class Receiver: NSObject, URLSessionDataDelegate {
    private struct State {
        var end = End()
        var continuation: CheckedContinuation<End, Never>?
    }

    private let limit: Int
    private let state = Locked(State())

    init(limit: Int) { self.limit = limit }

    func start(_ task: URLSessionDataTask, _ continuation: CheckedContinuation<End, Never>) {
        state.withLock { $0.continuation = continuation }
        task.resume()
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        let isTooLarge = state.withLock { state in
            state.end.isTooLarge = state.end.isTooLarge || state.end.body.count + data.count > limit
            if !state.end.isTooLarge { state.end.body.append(data) }
            return state.end.isTooLarge
        }
        if isTooLarge { dataTask.cancel() }
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        let response = task.response as? HTTPURLResponse
        let number = (error as NSError?)?.code
        let (continuation, end) = state.withLock { state in
            state.end.status = response?.statusCode
            state.end.uri = response?.url?.absoluteString
            state.end.errorNumber = number
            defer { state.continuation = nil }
            return (state.continuation, state.end)
        }
        continuation?.resume(returning: end)
    }
}
