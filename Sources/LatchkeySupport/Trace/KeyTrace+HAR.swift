import Foundation
import Latchkey
import LatchkeyCore

extension KeyTrace {
    /// HTTP Archive 1.2: the requests, without header fields and bodies, which hold the secrets.
    var archive: Data {
        HTTPArchive.data(
            exchanges.filter { !$0.requests.isEmpty }.map { exchange in
                let identity = exchange.identity
                let title = [identity.owner, identity.key].filter { !$0.isEmpty }.joined(separator: " · ")
                return HTTPArchive.Page(
                    start: exchange.start, title: title.isEmpty ? "other requests" : title,
                    exchanges: exchange.spans.compactMap(\.recorded))
            })
    }
}

extension TraceSpan {
    /// The exchange at the span's time; `nil` if the span is not a request.
    fileprivate var recorded: RecordedExchange? {
        guard var exchange else { return nil }
        (exchange.date, exchange.milliseconds) = (start, RecordedExchange.milliseconds(length))
        (exchange.stage, exchange.code) = (stage.isEmpty ? nil : stage, code)
        return exchange
    }
}
