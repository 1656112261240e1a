import LatchkeyCore
import LatchkeyForms
import LatchkeyHTTP

/// The header field in which the proxies in front of the server say for whom they ask.
package enum ForwardingField: String, Sendable, Hashable {
    /// `Forwarded`. Source: RFC 7239.
    case forwarded = "Forwarded"
    /// `X-Forwarded-For`: addresses with commas between them.
    case xForwardedFor = "X-Forwarded-For"
}

/// The proxies' entries, read from the right: the last one first, the only order in which a client cannot lie.
struct ForwardedHops: Sequence, IteratorProtocol {
    private let field: ForwardingField
    private var rest: [Substring]

    init(_ headers: HTTPHeaders, _ field: ForwardingField) {
        self.field = field
        rest = headers.values(of: HTTPHeaderName(field.rawValue)).map { $0[...] }
    }

    /// The next hop to the left: its address, or `nil` inside if it is unknown, hidden or malformed.
    mutating func next() -> AddressRange?? {
        guard let line = rest.popLast() else { return nil }
        let (left, element) = Self.cutLast(line)
        if let left { rest.append(left) }
        switch field {
        case .xForwardedFor: return .some(Self.address(of: element))
        case .forwarded: return .some(Self.parameterFor(of: element).flatMap { Self.address(of: $0) })
        }
    }

    /// The element after the last comma outside of quotes, and the text to the left of it.
    ///
    /// Reading backwards, a quote that a client left open to the left swallows nothing that a proxy wrote to the right of it.
    private static func cutLast(_ line: Substring) -> (left: Substring?, element: Substring) {
        var isQuoted = false
        for index in line.utf8.indices.reversed() {
            switch line.utf8[index] {
            case UInt8(ascii: "\""): isQuoted.toggle()
            case UInt8(ascii: ",") where !isQuoted: return (line[..<index], line[line.utf8.index(after: index)...])
            default: break
            }
        }
        return (nil, line)
    }

    /// The value of the one `for` of an element of `Forwarded`, without its quotes.
    private static func parameterFor(of element: Substring) -> Substring? {
        let values = element.split(separator: ";").compactMap { pair -> Substring? in
            let parts = pair.split(separator: "=", maxSplits: 1)
            guard parts.count == 2, trimmed(parts[0]).lowercased() == "for" else { return nil }
            return trimmed(parts[1])
        }
        guard values.count == 1, let value = values.first else { return nil }
        guard value.hasPrefix("\"") else { return value }
        guard value.count >= 2, value.hasSuffix("\"") else { return nil }
        return value.dropFirst().dropLast()
    }

    /// The address of a node: `192.0.2.1`, `192.0.2.1:80`, `2001:db8::1`, `[2001:db8::1]`, `[2001:db8::1]:80`.
    private static func address(of node: Substring) -> AddressRange? {
        let node = trimmed(node)
        guard let first = node.utf8.first else { return nil }
        if first == UInt8(ascii: "[") {
            guard let end = node.firstIndex(of: "]"), isPort(node[node.index(after: end)...]) else { return nil }
            let address = node[node.index(after: node.startIndex)..<end]
            return address.contains(":") ? AddressRange(address: address) : nil
        }
        guard let colon = node.utf8.firstIndex(of: UInt8(ascii: ":")), node.utf8.contains(UInt8(ascii: ".")),
            !node.contains("::")
        else { return AddressRange(address: node) }
        return isPort(node[colon...]) ? AddressRange(address: node[..<colon]) : nil
    }

    /// Whether it is nothing, or a colon and a port: digits, or a hidden one that begins with `_`.
    private static func isPort(_ text: Substring) -> Bool {
        guard let first = text.first else { return true }
        let port = text.dropFirst()
        guard first == ":", let begin = port.first else { return false }
        if begin == "_" { return port.count > 1 }
        return port.count <= 5 && port.utf8.allSatisfy { UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 }
    }

    private static func trimmed(_ text: Substring) -> Substring {
        let isBlank = { (byte: UInt8) in byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") }
        var text = text.utf8.drop(while: isBlank)
        while let last = text.last, isBlank(last) { text.removeLast() }
        return Substring(text)
    }
}
