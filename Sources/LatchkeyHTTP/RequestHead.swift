/// A request's line and header fields.
///
/// A head that two servers could read differently is refused, because the difference could hide a request. Nothing is repaired.
///
/// Source: RFC 9112 §2 to §6; RFC 9110 §5, §7.2, §8.6 and §10.1.1.
struct RequestHead: Hashable {
    /// Where the body ends.
    enum Framing: Hashable {
        /// After so many bytes.
        case length(UInt64)
        case chunked
    }

    let method: HTTPMethod
    let target: String
    let headers: HTTPHeaders
    let framing: Framing
    /// Whether the client waits for permission before it sends the body.
    let isWaitingToSend: Bool
    /// Whether the connection may carry another request.
    let keepsConnection: Bool
    /// Whether it is a request of HTTP/1.0, whose client understands no chunks.
    let isOld: Bool

    static let mostFields = 256

    /// - Parameter lines: the lines of a whole head without their ends, the request's first; at least one.
    init(_ lines: [UnsafeRawBufferPointer.SubSequence]) throws(HTTPRefusal) {
        let request = try Self.requestLine(lines[0])
        (method, target, isOld) = request
        guard lines.count <= Self.mostFields + 1 else { throw .headTooLarge }
        var headers = HTTPHeaders()
        for line in lines.dropFirst() {
            let field = try Self.field(line)
            headers.append(field.name, field.value)
        }
        self.headers = headers
        // A proxy in front may believe the other one.
        guard headers.values(of: .authorization).count <= 1 else {
            throw .framing("There are several Authorization fields.")
        }
        try Self.checkHost(headers, isOld: isOld)
        framing = try Self.framing(headers, isOld: isOld)
        isWaitingToSend = try Self.expectation(headers) && !isOld
        let wishes = headers.values(of: .connection).flatMap { $0.split(separator: ",").map(\.trimmingBlanks) }
        keepsConnection = isOld ? wishes.has("keep-alive") && !wishes.has("close") : !wishes.has("close")
    }

    /// The request without its body.
    var request: HTTPRequest { HTTPRequest(method: method, target: target, headers: headers) }

    /// The readable parts of a refused head, for its refusal.
    /// - Parameter lines: its complete lines.
    static func request(_ lines: [UnsafeRawBufferPointer.SubSequence]) -> HTTPRequest? {
        guard let (method, target, _) = lines.first.flatMap({ try? requestLine($0) }) else { return nil }
        let fields = lines.dropFirst().compactMap { try? field($0) }
        return HTTPRequest(
            method: method, target: target, headers: HTTPHeaders(fields.map { .init(name: $0.name, value: $0.value) }))
    }

    /// The stated length of the body in bytes; 0 if the head states none, as for a chunked body.
    var statedLength: UInt64 { if case .length(let length) = framing { length } else { 0 } }

    private static func requestLine(
        _ line: UnsafeRawBufferPointer.SubSequence
    ) throws(HTTPRefusal) -> (HTTPMethod, String, isOld: Bool) {
        let parts = line.split(separator: UInt8(ascii: " "), omittingEmptySubsequences: false)
        guard parts.count == 3, let method = parts.first, !method.isEmpty, method.count <= 32,
            method.allSatisfy(isTokenCharacter)
        else { throw .framing("The request line is not method, target and version, separated by single spaces.") }
        let (target, version) = (text(parts[1]), text(parts[2]))
        guard version == "HTTP/1.1" || version == "HTTP/1.0" else {
            throw version.hasPrefix("HTTP/") ? .version : .framing("The request line has no version of HTTP.")
        }
        guard isTarget(parts[1]), !parts[1].contains(UInt8(ascii: "\t")) else {
            throw .framing("The request's target is neither a path nor a URL.")
        }
        return (HTTPMethod(rawValue: text(method)), target, version == "HTTP/1.0")
    }

    /// A path, `*`, or a URL of HTTP.
    private static func isTarget(_ target: UnsafeRawBufferPointer.SubSequence) -> Bool {
        if target.first == UInt8(ascii: "/") { return true }
        if target.elementsEqual("*".utf8) { return true }
        let start = text(target.prefix(8)).lowercased()
        return start.hasPrefix("http://") || start.hasPrefix("https://")
    }

    static func field(
        _ line: UnsafeRawBufferPointer.SubSequence
    ) throws(HTTPRefusal) -> (name: HTTPHeaderName, value: String) {
        guard let colon = line.firstIndex(of: UInt8(ascii: ":")), colon > line.startIndex,
            line[..<colon].allSatisfy(isTokenCharacter)
        else { throw .framing("A header field's name is empty or contains a forbidden character.") }
        var value = line[(colon + 1)...]
        while let first = value.first, isBlank(first) { value.removeFirst() }
        while let last = value.last, isBlank(last) { value.removeLast() }
        return (HTTPHeaderName(text(line[..<colon])), text(value))
    }

    private static func checkHost(_ headers: HTTPHeaders, isOld: Bool) throws(HTTPRefusal) {
        let hosts = headers.values(of: .host)
        guard hosts.count <= 1 else { throw .framing("There are several Host fields.") }
        guard let host = hosts.first else {
            if isOld { return }
            throw .framing("There is no Host field.")
        }
        guard host.utf8.allSatisfy(isHostCharacter) else { throw .framing("The Host field is not a host.") }
    }

    private static func framing(_ headers: HTTPHeaders, isOld: Bool) throws(HTTPRefusal) -> Framing {
        let (lengths, codings) = (headers.values(of: .contentLength), headers.values(of: .transferEncoding))
        if !lengths.isEmpty, !codings.isEmpty {
            throw .framing("Both Content-Length and Transfer-Encoding are present.")
        }
        if lengths.count > 1 || codings.count > 1 { throw .framing("The length of the body is stated twice.") }
        if let coding = codings.first {
            guard !isOld else { throw .framing("An HTTP/1.0 request cannot have Transfer-Encoding.") }
            guard coding.equalsIgnoringCase("chunked") else { throw .coding }
            return .chunked
        }
        guard let length = lengths.first else { return .length(0) }
        guard !length.isEmpty, length.utf8.allSatisfy({ $0 >= UInt8(ascii: "0") && $0 <= UInt8(ascii: "9") }) else {
            throw .framing("The Content-Length is not a number.")
        }
        guard let number = UInt64(length) else { throw .bodyTooLarge }
        return .length(number)
    }

    private static func expectation(_ headers: HTTPHeaders) throws(HTTPRefusal) -> Bool {
        let wishes = headers.values(of: .expect)
        guard wishes.allSatisfy({ $0.equalsIgnoringCase("100-continue") }) else { throw .expectation }
        return !wishes.isEmpty
    }

    private static func text(_ bytes: UnsafeRawBufferPointer.SubSequence) -> String {
        String(decoding: bytes, as: UTF8.self)
    }

    private static func isBlank(_ byte: UInt8) -> Bool { byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") }

    private static func isTokenCharacter(_ byte: UInt8) -> Bool { tokenCharacters[Int(byte)] }

    private static func isHostCharacter(_ byte: UInt8) -> Bool {
        byte > 0x20 && byte < 0x7f && !hostSeparators.contains(byte)
    }

    private static let hostSeparators = Array(#",/\@?#"<>{}|^`"#.utf8)

    private static let tokenCharacters: [Bool] = (0..<256).map { number in
        switch UInt8(truncatingIfNeeded: number) {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        default: "!#$%&'*+-.^_`|~".utf8.contains(UInt8(truncatingIfNeeded: number))
        }
    }
}

extension [String] {
    /// Whether it contains a word, regardless of letter case.
    fileprivate func has(_ word: String) -> Bool { contains { $0.equalsIgnoringCase(word) } }
}
