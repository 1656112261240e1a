package import Foundation
package import LatchkeyTransport

#if canImport(FoundationNetworking)
    import FoundationNetworking
    import LatchkeyCore
    import LatchkeySystem
#endif

extension Arguments {
    /// Returns the arguments with references replaced by the contents of files and addresses: `NAME=@FILE`, `NAME=@https://…`,
    /// and `NAME=@-` for standard input.
    ///
    /// So a token need not be on the command line, which every user of the machine can read.
    /// - Throws: `UsageError` if standard input is named twice; `FileError`, `TransportError`.
    package func readingFiles(_ console: Console) async throws -> Arguments {
        let named = values.values.joined().compactMap { $0 as? NamedValue }
        if named.count(where: { $0.source == .file("-") }) > 1 {
            throw UsageError("standard input can be read only once, and @- occurs twice.")
        }
        var arguments = self
        for (option, values) in values {
            var read: [any Sendable] = []
            for value in values { read.append(try await self.value(value, console)) }
            arguments.values[option] = read
        }
        return arguments
    }

    private func value(_ value: any Sendable, _ console: Console) async throws -> any Sendable {
        guard let value = value as? NamedValue else { return value }
        guard case .address(let url) = value.source else { return try value.readingFile(console) }
        return try await value.read(at: url, over: Network.transport(trusting: self[Network.authorities], console))
    }
}

extension NamedValue {
    /// The source of a value.
    package enum Source: Equatable {
        case text(String)
        /// In a file; `-` is standard input.
        case file(String)
        /// At an address, over https, or over http on this machine.
        case address(URL)
    }

    /// The source of the value: `@FILE`, `@https://…`, or the text itself; `@@` begins a text with one `@`.
    package var source: Source {
        guard mayNameFile, value.hasPrefix("@") else { return .text(value) }
        let rest = String(value.dropFirst())
        if rest.hasPrefix("@") { return .text(rest) }
        guard let url = URL(string: rest), Self.isPrivate(url) else { return .file(rest) }
        return .address(url)
    }

    /// Whether the reply is private in transit.
    private static func isPrivate(_ url: URL) -> Bool {
        let isHere = ["127.0.0.1", "localhost", "::1", "[::1]"].contains(url.host ?? "")
        return url.scheme == "https" || url.scheme == "http" && isHere
    }

    /// The value at an address now.
    package func read(at url: URL, over transport: any Transport) async throws -> NamedValue {
        let reply = try await transport.send(URLRequest(url: url), bodyLimit: NamedValue.limit)
        guard reply.status == 200 else { throw FileError.refused(url, reply.status) }
        let held = try holding(reply.body, of: url.host ?? "the server")
        return NamedValue(name: name, value: held.value, address: url)
    }

    /// 1 MiB, far more than any token.
    fileprivate static let limit = 1 << 20

    fileprivate func readingFile(_ console: Console) throws -> NamedValue {
        guard case .file(let path) = source else {
            if case .text(let text) = source { return NamedValue(name: name, value: text) }
            return self
        }
        guard !path.isEmpty else {
            throw UsageError("\(name)=@ names no file.", hint: "Write \(name)=@FILE, or \(name)=@- for standard input.")
        }
        // A named pipe may never have a writer; one that a shell opened has one.
        let waits = path == "-" || InputFile.isOpen(path)
        let bytes =
            waits
            ? try InputFile.read(path, limit: Self.limit, console) : try InputFile.read(path, limit: Self.limit)
        return try holding(bytes, of: path)
    }

    /// The value from a file or a server.
    fileprivate func holding(_ bytes: Data, of place: String) throws -> NamedValue {
        guard let text = String(data: bytes, encoding: .utf8) else { throw FileError.notText(place, for: name) }
        // The line end that an editor adds belongs to the file, not to the value.
        let value = text.last?.isNewline == true ? String(text.dropLast()) : text
        // A value goes into a header, a URL or JSON, where such characters are invalid. Multi-line JSON has line feeds.
        guard
            !value.unicodeScalars.contains(where: {
                $0.value < 0x20 && !"\t\n".unicodeScalars.contains($0) || $0.value == 0x7f
            })
        else { throw FileError.controls(place, for: name) }
        return NamedValue(name: name, value: value)
    }
}

extension FileError {
    fileprivate static func refused(_ url: URL, _ status: Int) -> Self {
        FileError(
            code: "cannotRead", reason: "\(url.host ?? "") answered \(status) where a value was to be read.",
            remedy: "Check the address behind the @.")
    }

    fileprivate static func controls(_ path: String, for name: String) -> Self {
        FileError(
            code: "notText",
            reason: "\(path) holds a NUL, a carriage return or another control character, which \(name) cannot have.",
            remedy: "Write the value alone to the file, without line ends of Windows inside.")
    }

    fileprivate static func notText(_ path: String, for name: String) -> Self {
        FileError(
            code: "notText", reason: "\(path) holds no text, which \(name) has to be.",
            remedy: "Check that it is the right file; bytes are given in base64.")
    }
}
