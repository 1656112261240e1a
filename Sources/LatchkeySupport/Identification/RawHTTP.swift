import Foundation
import Latchkey
import LatchkeyCore
import LatchkeyVendors

/// HTTP messages as text: one with its body, or the output of `curl -v`, which marks sent lines by `>` and received ones by `<`.
enum RawHTTP {
    /// The exchanges; `nil` if the bytes do not begin with a message.
    static func exchanges(_ data: Data) -> [RecordedExchange]? {
        if let message = message(data) { return [message] }
        let lines = String(decoding: data, as: UTF8.self).split(whereSeparator: \.isNewline)
        let remarks = lines.filter { $0.hasPrefix("* ") }
        let isOpen = !remarks.isEmpty && !remarks.contains { $0.contains("TLS") || $0.contains("SSL") }
        func heads(_ mark: String) -> [RecordedExchange] {
            Self.heads(lines.filter { $0.hasPrefix(mark) }.map { String($0.dropFirst(2)) }, isOpen ? "http" : nil)
        }
        // An interim reply, such as 100 Continue, comes before the reply.
        var (found, came) = (heads("> "), heads("< ").filter { !(100..<200 ~= $0.reply?.status ?? 0) }[...])
        for index in found.indices where found[index].reply == nil {
            guard let next = came.popFirst() else { break }
            (found[index].reply, found[index].replyGap) = (next.reply, next.replyGap)
        }
        if let last = found.indices.last, let body = lastBody(data), let reply = found[last].reply {
            found[last].reply = HTTPReply(status: reply.status, headers: reply.headers, body: body)
            found[last].replyGap = nil
        }
        found += came
        return found.isEmpty ? nil : found
    }

    /// The last reply's body as curl printed it, after its remarks, or `nil`.
    private static func lastBody(_ data: Data) -> Data? {
        let remark = ["\n* Connection #", "\n* Closing connection"].compactMap {
            data.range(of: Data($0.utf8), options: .backwards)
        }.max { $0.lowerBound < $1.lowerBound }
        guard let remark, let end = data[remark.upperBound...].firstIndex(of: UInt8(ascii: "\n")),
            end + 1 < data.endIndex
        else { return nil }
        return Data(data[(end + 1)...])
    }

    /// One message: its head up to the empty line, and everything after it.
    private static func message(_ data: Data) -> RecordedExchange? {
        let ends = [Data("\r\n\r\n".utf8), Data("\n\n".utf8)].compactMap { data.range(of: $0) }
        let end = ends.min { $0.lowerBound < $1.lowerBound }
        let head = String(decoding: data[..<(end?.lowerBound ?? data.endIndex)], as: UTF8.self)
        let lines = head.split(whereSeparator: \.isNewline).map(String.init)
        let body = end.map { Data(data[$0.upperBound...]) } ?? Data()
        return lines.first.flatMap { first in message(first, lines.dropFirst(), body) }
    }

    /// The consecutive heads.
    private static func heads(_ lines: [String], _ scheme: String?) -> [RecordedExchange] {
        var found: [RecordedExchange] = []
        var head: [String] = []
        func close() {
            if let first = head.first, let message = message(first, head.dropFirst(), nil, scheme) {
                found.append(message)
            }
        }
        for line in lines.prefix(TrafficCapture.limit) {
            if isStart(line) {
                close()
                head = [line]
            } else if !head.isEmpty {
                head.append(line)
            }
        }
        close()
        return found
    }

    private static func isStart(_ line: String) -> Bool { status(line) != nil || target(line) != nil }

    /// - Parameters:
    ///   - body: `nil` if it is absent.
    ///   - scheme: `nil` if it is unknown.
    private static func message(
        _ first: String, _ lines: ArraySlice<String>, _ body: Data?, _ scheme: String? = nil
    ) -> RecordedExchange? {
        let headers = lines.compactMap { line -> (name: String, value: String)? in
            guard let colon = line.firstIndex(of: ":"), colon != line.startIndex else { return nil }
            return (String(line[..<colon]), line[colon...].dropFirst().trimmingCharacters(in: .whitespaces))
        }
        if let status = status(first) {
            var exchange = RecordedExchange(nil, HTTPReply(status: status, headers: headers, body: body ?? Data()))
            exchange.replyGap = body == nil ? .notSaved : nil
            return exchange
        }
        guard let (method, target) = target(first) else { return nil }
        let host = headers.first { $0.name.lowercased() == "host" }?.value ?? ""
        let isLoopback = ["127.0.0.1", "localhost", "[::1]"].contains { host == $0 || host.hasPrefix("\($0):") }
        let front = scheme ?? (isLoopback ? "http" : "https")
        let url = target.hasPrefix("/") && !host.isEmpty ? "\(front)://\(host)\(target)" : target
        let request = RecordedRequest(
            method: method, url: url, headers: headers, body: body?.isEmpty == false ? body : nil,
            gap: body == nil && method != "GET" ? .notSaved : nil)
        return RecordedExchange(request, nil)
    }

    /// The status of a reply's first line.
    private static func status(_ line: String) -> Int? {
        let words = line.split(separator: " ")
        guard words.count >= 2, words[0].hasPrefix("HTTP/"), let status = Int(words[1]), (100..<600).contains(status)
        else { return nil }
        return status
    }

    /// Method and target of a request's first line.
    private static func target(_ line: String) -> (method: String, target: String)? {
        let words = line.split(separator: " ").map(String.init)
        guard words.count == 3, words[2].hasPrefix("HTTP/"), words[0].utf8.allSatisfy({ (0x41...0x5a).contains($0) })
        else { return nil }
        return (words[0], words[1])
    }
}
