import LatchkeyForms

// A row as one line of JSON. Source: `Documentation/Server/Record.md` §1.
extension LicenseRecordRow {
    /// The version of the written form. A later version may add members, which this version's reader ignores.
    package static let version = 1

    /// The row without its position, as the second half of a JSON object; `RecordPosition.jsonStart` is the first half.
    package var jsonEnd: [UInt8] {
        var line = RowWriter()
        line.add("time", time)
        line.add("event", event.rawValue)
        if let cause { line.add("cause", cause.rawValue) }
        if count != 1 { line.add("count", Int64(count)) }
        for (name, value) in texts where !value.isEmpty { line.add(name, value) }
        if let seconds { line.add("seconds", Int64(seconds)) }
        if let microseconds { line.add("microseconds", Int64(microseconds)) }
        if let decision { line.add("decision", json: decision) }
        return line.ended()
    }

    /// The row as one line, without a newline.
    package var json: [UInt8] { position.jsonStart + jsonEnd }

    private var texts: [(StaticString, String)] {
        [
            ("tenant", tenant), ("account", account), ("device", device), ("address", address), ("country", country),
            ("content", content), ("kid", kid), ("api", api), ("kind", kind), ("policy", policy),
            ("policyDigest", policyDigest), ("session", session), ("requestId", requestID), ("code", code),
            ("reason", reason),
        ]
    }

    /// Reads a row. Strict: a line in any other form is rejected, but unknown members are ignored.
    /// - Throws: `RecordRowError`.
    package init(json: some Collection<UInt8>) throws(RecordRowError) {
        let value: JSONValue
        do { value = try JSONReader.value(of: json) } catch { throw RecordRowError(error.reason) }
        guard case .object(let members) = value else { throw RecordRowError("It is not an object.") }
        let reader = RowReader(members: members)
        guard try reader.integer("v").map({ $0 >= 1 }) == true else { throw RecordRowError("“v” is not a version.") }
        self.init()
        position = RecordPosition(
            node: try reader.text("node"), spool: try reader.text("spool"),
            sequence: UInt64(clamping: try reader.required("seq")))
        time = Int64(try reader.required("time"))
        guard time < Self.endOfTime else { throw RecordRowError("“time” is beyond the year 9999.") }
        guard let event = Event(rawValue: try reader.text("event")) else {
            throw RecordRowError("“event” is not known to this version.")
        }
        self.event = event
        let cause = try reader.text("cause")
        guard cause.isEmpty || Cause(rawValue: cause) != nil else {
            throw RecordRowError("“cause” is not known to this version.")
        }
        self.cause = Cause(rawValue: cause)
        count = try reader.integer("count") ?? 1
        (tenant, account, device) = (try reader.text("tenant"), try reader.text("account"), try reader.text("device"))
        (address, country) = (try reader.text("address"), try reader.text("country"))
        (content, kid, api) = (try reader.text("content"), try reader.text("kid"), try reader.text("api"))
        (kind, seconds) = (try reader.text("kind"), try reader.integer("seconds"))
        (policy, policyDigest) = (try reader.text("policy"), try reader.text("policyDigest"))
        (session, requestID) = (try reader.text("session"), try reader.text("requestId"))
        (code, reason) = (try reader.text("code"), try reader.text("reason"))
        microseconds = try reader.integer("microseconds")
        if let decision = members["decision"] {
            guard case .object = decision else { throw RecordRowError("“decision” is not an object.") }
            self.decision = decision.canonicalText
        }
    }
}

extension RecordPosition {
    /// The first half of a row's JSON object.
    package var jsonStart: [UInt8] {
        var line = RowWriter()
        line.add("v", Int64(LicenseRecordRow.version))
        line.add("node", node)
        line.add("spool", spool)
        line.add("seq", Int64(clamping: sequence))
        return line.bytes
    }
}

/// Why a line is not a row of the record.
package struct RecordRowError: Error, Hashable {
    /// The problem, on one line.
    package let reason: String

    init(_ reason: String) { self.reason = reason }
}

/// Unreadable lines of the record's files: damaged, or written by a later version. No answer includes them.
package struct UnreadLines: Sendable, Hashable {
    package private(set) var count = 0
    /// The place of the first such line, and why.
    package private(set) var first = ""

    package init() {}

    /// The row of a line; `nil`, and counted, if the line is not a row.
    mutating func row(_ line: some Collection<UInt8>, of path: String) -> LicenseRecordRow? {
        do throws(RecordRowError) { return try LicenseRecordRow(json: line) } catch {
            count += 1
            if first.isEmpty { first = "\(path) (\(error.reason))" }
            return nil
        }
    }
}

/// Writes the members of an object.
private struct RowWriter {
    private(set) var bytes: [UInt8] = []

    init() { bytes.reserveCapacity(512) }

    mutating func add(_ name: StaticString, _ value: String) {
        begin(name)
        JSONValue.append(value, quotedTo: &bytes)
    }

    mutating func add(_ name: StaticString, _ value: Int64) {
        begin(name)
        bytes.append(contentsOf: String(value).utf8)
    }

    mutating func add(_ name: StaticString, json: String) {
        begin(name)
        bytes.append(contentsOf: json.utf8)
    }

    /// The bytes as the rest of a started object.
    mutating func ended() -> [UInt8] {
        if bytes.first == UInt8(ascii: "{") { bytes[0] = UInt8(ascii: ",") }
        bytes.append(UInt8(ascii: "}"))
        return bytes
    }

    private mutating func begin(_ name: StaticString) {
        bytes.append(UInt8(ascii: bytes.isEmpty ? "{" : ","))
        bytes.append(UInt8(ascii: "\""))
        name.withUTF8Buffer { bytes.append(contentsOf: $0) }
        bytes.append(UInt8(ascii: "\""))
        bytes.append(UInt8(ascii: ":"))
    }
}

/// Reads the members of an object by their types.
private struct RowReader {
    let members: [String: JSONValue]

    /// A text; empty if missing.
    func text(_ name: String) throws(RecordRowError) -> String {
        guard let value = members[name] else { return "" }
        guard case .text(let text) = value else { throw RecordRowError("“\(name)” is not text.") }
        return text
    }

    /// A whole number; `nil` if missing.
    func integer(_ name: String) throws(RecordRowError) -> Int? {
        guard let value = members[name] else { return nil }
        guard case .number(let number) = value, let integer = Int(exactly: number) else {
            throw RecordRowError("“\(name)” is not a whole number.")
        }
        return integer
    }

    func required(_ name: String) throws(RecordRowError) -> Int {
        guard let integer = try integer(name), integer >= 0 else {
            throw RecordRowError("“\(name)” is not a valid number.")
        }
        return integer
    }
}
