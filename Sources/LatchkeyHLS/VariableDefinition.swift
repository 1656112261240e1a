/// An EXT-X-DEFINE tag, which states the source of a variable's value.
///
/// Variables in its own attributes are not replaced (HLS.md rule 19).
///
/// Source: draft-pantos-hls-rfc8216bis §4.4.2.3, `Documentation/HLS.md` §7 rules 19 and 20.
struct VariableDefinition {
    enum Origin {
        case stated(String)
        case imported
        case queryParameter
    }

    let name: String
    let origin: Origin

    init(_ attributes: AttributeList) throws(PlaylistError) {
        let forms = [attributes["NAME"], attributes["IMPORT"], attributes["QUERYPARAM"]]
        guard forms.count(where: { $0 != nil }) == 1, let form = forms.compactMap({ $0 }).first else {
            throw Self.malformed("EXT-X-DEFINE needs one of NAME, IMPORT and QUERYPARAM", attributes)
        }
        guard form.isQuoted, Substitution.isName(form.value) else {
            throw Self.malformed("EXT-X-DEFINE names no variable", attributes)
        }
        name = form.value.text
        if form.name.equals("IMPORT") {
            origin = .imported
        } else if form.name.equals("QUERYPARAM") {
            origin = .queryParameter
        } else {
            guard let value = attributes["VALUE"], value.isQuoted else {
                throw Self.malformed("EXT-X-DEFINE with NAME needs VALUE", attributes)
            }
            origin = .stated(value.value.text)
        }
    }

    func value(in context: PlaylistContext, line: Int) throws(PlaylistError) -> String {
        switch origin {
        case .stated(let value): return value
        case .imported:
            if let value = context.imports?[name] { return value }
            let summary = "the multivariant playlist does not define \(PlaylistError.short(name))"
            throw PlaylistError(.importNotFound, line: line, summary)
        case .queryParameter:
            if let value = queryValue(in: context.uri), !value.isEmpty { return value }
            let summary = "the playlist's URI has no query parameter \(PlaylistError.short(name))"
            throw PlaylistError(.queryParameterNotFound, line: line, summary)
        }
    }

    /// The first value of the query parameter, as written. It is not decoded: parsers disagree about that, and a token must reach
    /// the server unchanged.
    private func queryValue(in uri: String?) -> String? {
        for item in URIReference(uri ?? "").query?.split(separator: "&") ?? [] {
            let parts = item.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            if parts.first?.utf8.elementsEqual(name.utf8) == true { return parts.count > 1 ? String(parts[1]) : "" }
        }
        return nil
    }

    private static func malformed(_ summary: String, _ attributes: AttributeList) -> PlaylistError {
        PlaylistError(.malformedDefinition, line: attributes.line, summary)
    }
}
