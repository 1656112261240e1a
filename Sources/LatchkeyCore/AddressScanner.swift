/// Cuts the text of a URL into its parts, and writes it again with each of them replaced.
///
/// `Documentation/Redaction.md` has the grammar.
struct AddressScanner {
    /// The maximum depth of encodings or URLs inside each other: anything deeper is treated as secret.
    private static let deepest = 5

    private let redaction: Redaction
    private let bytes: ArraySlice<UInt8>
    private let show: (AddressPart) -> String
    private let depth: Int
    /// Whether the text is prose: a name counts after a separator, and a random word after a host.
    private let isProse: Bool

    private var written: [UInt8] = []
    private var index: Int
    private var place = AddressPart.Place.path
    private var namesHost: Bool
    /// Whether the text is a key URI, whose parts name a key.
    private var namesKey: Bool
    /// Whether the last path segment announces a secret, as `token` does in `/token/abc`.
    private var announcesSecret = false
    private var isSeparated = false

    init(
        _ redaction: Redaction, _ bytes: ArraySlice<UInt8>, isProse: Bool = false, depth: Int = 0,
        namesKey: Bool = false, _ show: @escaping (AddressPart) -> String
    ) {
        (self.redaction, self.bytes, self.isProse, self.depth, self.show) = (redaction, bytes, isProse, depth, show)
        (index, namesHost) = (bytes.startIndex, !isProse)
        self.namesKey = namesKey || Self.begins(bytes, with: "skd:")
        written.reserveCapacity(bytes.count)
    }

    mutating func scanned() -> [UInt8] {
        if bytes.starts(with: Self.slashes) { authority(scheme: []) }
        if Self.begins(bytes, with: "data:") { data() }
        while index < bytes.endIndex {
            atom(bytes[index...].prefix { !ends($0) })
            separator()
        }
        return written
    }

    /// A `data:` URL can hold a key: its bytes are a secret.
    private mutating func data() {
        guard let comma = bytes.firstIndex(of: UInt8(ascii: ",")) else { return }
        let secret = bytes[(comma + 1)...]
        if isProse, !Self.text(bytes[..<comma]).hasSuffix(";base64") { return }
        written += bytes[...comma]
        emit(secret, place: .path, shown: Self.isHidden(secret) ? nil : Self.hidden(secret))
    }

    private mutating func separator() {
        guard index < bytes.endIndex else { return }
        switch (bytes[index], place) {
        case (UInt8(ascii: "?"), .path): place = .query
        case (UInt8(ascii: "#"), _): place = .fragment
        default: break
        }
        if bytes[index] != UInt8(ascii: "/") { announcesSecret = false }
        isSeparated = true
        written.append(bytes[index])
        index += 1
    }

    /// Whether a part ends at a byte.
    private func ends(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "&"), UInt8(ascii: ";"), UInt8(ascii: "?"), UInt8(ascii: "#"): true
        case UInt8(ascii: "/"): place != .query
        case UInt8(ascii: "~"), UInt8(ascii: ","): place == .path
        default: false
        }
    }

    /// Whether the value of a secret name ends at a byte.
    private func endsSecret(_ byte: UInt8) -> Bool {
        switch place {
        case .query: byte == UInt8(ascii: "&") || byte == UInt8(ascii: "#")
        case .fragment: byte == UInt8(ascii: "&")
        default: [UInt8(ascii: "/"), UInt8(ascii: "?"), UInt8(ascii: "#")].contains(byte)
        }
    }
}

// MARK: - Authority

extension AddressScanner {
    private static let slashes = Array("//".utf8)
    private static let longestUser = 1_000

    /// From `//` to the end of the host and its port.
    private mutating func authority(scheme: ArraySlice<UInt8>) {
        written += Self.slashes
        index += 2
        (namesHost, namesKey) = (true, Self.text(scheme).lowercased().hasSuffix("skd:"))
        var host = bytes[index...].prefix { ![0x2f, 0x3f, 0x23, 0x3b].contains($0) }
        if let user = user(before: host) {
            let shown = namesKey ? Self.hidden(user) : Array("‹user›".utf8)
            emit(user, place: .user, shown: user.isEmpty || Self.isHidden(user) ? nil : shown)
            host = bytes[user.endIndex..<max(host.endIndex, user.endIndex)]
            index = user.endIndex
        }
        // The host of a key URI can be anything, such as a list of names and values.
        let isList = host.contains { $0 == UInt8(ascii: "=") || $0 == UInt8(ascii: "%") }
        emit(host, place: .host, shown: Self.holdsJWT(host) ? Self.hidden(host) : isList ? nested(host) : nil)
        index = host.endIndex
        isSeparated = true
    }

    /// User and password. A password may hold `/`, `?` and `#`, as people write them: a host with a non-numeric port does not count.
    private func user(before host: ArraySlice<UInt8>) -> ArraySlice<UInt8>? {
        if let at = host.lastIndex(of: UInt8(ascii: "@")) { return host[..<at] }
        if Self.decoded(host).contains(UInt8(ascii: "@")) { return host }
        guard !namesKey, let colon = host.firstIndex(of: UInt8(ascii: ":")),
            !host[(colon + 1)...].allSatisfy({ (0x30...0x39).contains($0) }), host.first != UInt8(ascii: "[")
        else { return nil }
        let rest = bytes[host.startIndex...].prefix(Self.longestUser)
        return rest.lastIndex(of: UInt8(ascii: "@")).map { rest[..<$0] }
    }
}

// MARK: - Parts

extension AddressScanner {
    /// A name with its value, or a value alone.
    private mutating func atom(_ part: ArraySlice<UInt8>) {
        guard let mark = part.firstIndex(of: UInt8(ascii: "=")), mark > part.startIndex,
            part[mark...].contains(where: { $0 != UInt8(ascii: "=") }), !looksSecret(part[..<mark])
        else { return value(part) }
        let name = Self.text(Self.decoded(part[..<mark])[...])
        emit(part[..<mark], place: .name, shown: nil)
        written.append(UInt8(ascii: "="))
        index = mark + 1
        if redaction.isSecret(queryItem: name), case let secret = secret(from: index), isJudged(secret) {
            emit(secret, place: place, name: name, shown: Self.isHidden(secret) ? nil : Self.hidden(secret))
        } else {
            value(part[(mark + 1)...], of: name)
        }
        announcesSecret = false
    }

    private func secret(from start: Int) -> ArraySlice<UInt8> { bytes[start...].prefix { !endsSecret($0) } }

    private func isAnnounced(_ part: ArraySlice<UInt8>) -> Bool {
        announcesSecret && Self.mayBeAnnounced(secret(from: part.startIndex))
    }

    /// Whether a secret name makes this a secret. In prose `token=@FILE` explains an option.
    private func isJudged(_ secret: ArraySlice<UInt8>) -> Bool {
        isSeparated || !isProse || isTokenList || Self.mayBeAnnounced(secret)
    }

    /// Whether the rest is a list as content delivery networks sign it: `exp=1~acl=/*~hmac=0a1b`.
    private var isTokenList: Bool { bytes[index...].contains(UInt8(ascii: "~")) }

    /// A value without a name, or with a name that does not make it secret.
    private mutating func value(_ part: ArraySlice<UInt8>, of name: String = "") {
        if !Self.isHidden(part),
            isAnnounced(part) || Self.holdsPair(part) || Self.holdsJWT(part)
                || looksSecret(part, of: name) && !namesAddress(part)
        {
            let secret = secret(from: part.startIndex)
            emit(secret, place: place, name: name, shown: Self.hidden(secret))
        } else if part.last == UInt8(ascii: ":"), bytes[part.endIndex...].starts(with: Self.slashes) {
            written += part
            index = part.endIndex
            authority(scheme: part)
        } else {
            let shown = holdsAddress(part, isNamed: !name.isEmpty) ? nested(part) : Array(part)
            // If an encoded secret would be shown, hides it and keeps the rest readable.
            let isEncoded = shown.elementsEqual(part) && holdsEncodedSecret(part)
            let secret = isEncoded ? secret(from: part.startIndex) : part
            emit(secret, place: place, name: name, shown: isEncoded ? Self.hidden(secret) : shown)
        }
        announcesSecret = namesHost && place != .query && Self.announces(part)
    }

    private mutating func emit(
        _ part: ArraySlice<UInt8>, place: AddressPart.Place, name: String = "", shown: [UInt8]?
    ) {
        if !part.isEmpty {
            let text = Self.text(part)
            let shown = show(
                AddressPart(place: place, name: name, text: text, shown: shown.map { Self.text($0[...]) } ?? text))
            // Escapes may stand for bytes that are not UTF-8.
            if shown == text { written += part } else { written += shown.utf8 }
        }
        index = part.endIndex
    }

    /// Whether a value may hold URLs or lists.
    private func holdsAddress(_ value: ArraySlice<UInt8>, isNamed: Bool) -> Bool {
        (isNamed || place != .path) && !Self.isHidden(value) && value.contains { "=/?~,#:".utf8.contains($0) }
    }

    /// Whether a value has a secret that appears only after its escapes are decoded.
    private func holdsEncodedSecret(_ value: ArraySlice<UInt8>) -> Bool {
        let decoded = Self.decoded(value)
        return decoded.count < value.count && !nested(decoded[...]).elementsEqual(decoded)
    }

    /// A value that is a URL or a part of one itself, without its secrets.
    private func nested(_ value: ArraySlice<UInt8>) -> [UInt8] {
        if depth >= Self.deepest { return Self.hidden(value) }
        var scanner = AddressScanner(
            redaction, value, isProse: isProse && !namesHost, depth: depth + 1, namesKey: namesKey, \.shown)
        scanner.isSeparated = isSeparated
        return scanner.scanned()
    }

    private func looksSecret(_ part: ArraySlice<UInt8>, of name: String = "") -> Bool {
        guard namesHost || place != .path, Self.looksRandom(part) else { return false }
        return switch place {
        case .query: !Self.namesIdentifier(name)
        default: !(namesKey ? redaction.namesKey(part) : isFileName(part))
        }
    }

    /// Whether a part is the last of a path, with an extension.
    private func isFileName(_ part: ArraySlice<UInt8>) -> Bool {
        let isLast = part.endIndex == bytes.endIndex || ["?", "#", ";"].contains(Unicode.Scalar(bytes[part.endIndex]))
        return isLast && place == .path && Self.hasEnding(part)
    }

    /// Whether a value is a URL itself, absolute or not.
    private func namesAddress(_ value: ArraySlice<UInt8>) -> Bool {
        if value.first == UInt8(ascii: "/") || value.first == UInt8(ascii: "?") { return true }
        guard let colon = value.firstIndex(of: UInt8(ascii: ":")) else { return false }
        return value[(colon + 1)...].starts(with: Self.slashes)
    }
}

// MARK: - Bytes

extension AddressScanner {
    /// - Parameter start: in lowercase.
    static func begins(_ bytes: ArraySlice<UInt8>, with start: String) -> Bool {
        text(bytes.prefix(start.utf8.count)).lowercased() == start
    }

    static func text(_ bytes: ArraySlice<UInt8>) -> String { String(decoding: bytes, as: UTF8.self) }

    static func hidden(_ bytes: ArraySlice<UInt8>) -> [UInt8] { Array(Secret(bytes).short.utf8) }

    /// Percent-decoded once; escapes that are not valid stay.
    static func decoded(_ bytes: ArraySlice<UInt8>) -> [UInt8] {
        var (decoded, index) = ([UInt8](), bytes.startIndex)
        while index < bytes.endIndex {
            if bytes[index] == UInt8(ascii: "%"), index + 2 < bytes.endIndex,
                let byte = UInt8(text(bytes[(index + 1)...(index + 2)]), radix: 16)
            {
                decoded.append(byte)
                index += 3
            } else {
                decoded.append(bytes[index])
                index += 1
            }
        }
        return decoded
    }
}
