import LatchkeyCore

extension KeyTag {
    init(
        _ attributes: AttributeList, _ variables: inout Substitution, _ warnings: inout WarningList
    ) throws(PlaylistError) {
        self.init(method: .none, line: attributes.line)
        var hasMethod = false
        for attribute in attributes.attributes {
            let mustBeQuoted = try take(attribute, of: attributes, &variables)
            if attribute.name.equals("METHOD") { hasMethod = !attribute.value.isEmpty }
            if let mustBeQuoted, mustBeQuoted != attribute.isQuoted {
                warnings.add("\(attribute.name.text) \(mustBeQuoted ? "lacks" : "has") quotes", line: line)
            }
        }
        guard hasMethod else { throw PlaylistError(.missingAttribute, line: line, "a key tag without METHOD") }
        try check(attributeCount: attributes.attributes.count, &warnings)
    }

    private init(method: KeyMethod, line: Int) {
        self.method = method
        self.line = line
        format = .identity
        statesFormat = false
        formatVersions = "1"
        statesFormatVersions = false
        otherAttributes = []
    }

    /// Reads one attribute. Returns whether its value must be quoted; `nil` if both forms are allowed.
    private mutating func take(
        _ attribute: AttributeList.Attribute, of list: AttributeList, _ variables: inout Substitution
    ) throws(PlaylistError) -> Bool? {
        if attribute.name.equals("METHOD") {
            method = KeyMethod(attribute.value)
            return false
        }
        let value = try list.text(attribute, &variables)
        if attribute.name.equals("URI") {
            uri = KeyURI(value)
        } else if attribute.name.equals("KEYFORMAT") {
            format = KeyFormat(value)
            statesFormat = true
        } else if attribute.name.equals("KEYFORMATVERSIONS") {
            formatVersions = value
            statesFormatVersions = true
        } else if attribute.name.equals("IV") {
            iv = value
            return false
        } else {
            otherAttributes.append(Attribute(name: attribute.name.text, value: value))
            return nil
        }
        return true
    }

    private func check(attributeCount: Int, _ warnings: inout WarningList) throws(PlaylistError) {
        if method == .none {
            // HLS.md rule 7: the attributes violate the specification and have no meaning.
            if attributeCount > 1 { warnings.add("METHOD=NONE with other attributes", line: line) }
        } else if uri?.raw.isEmpty != false {
            let what = uri == nil ? "without URI" : "with an empty URI"
            throw PlaylistError(.missingAttribute, line: line, "a key tag \(what)")
        }
        if let iv, !Self.isIV(iv) {
            throw PlaylistError(.malformedValue, line: line, "IV is not 0x and 1 to 32 hexadecimal digits")
        }
        if case .other = method { warnings.add("METHOD is unknown", line: line) }
        if statesFormatVersions, formatVersions != "1", supportedVersions.isEmpty {
            warnings.add("KEYFORMATVERSIONS is not numbers joined by slashes", line: line)
        }
    }

    /// HLS.md rule 4: `x` and the digits in either case, at most 128 bits.
    private static func isIV(_ text: String) -> Bool {
        let bytes = Array(text.utf8)
        guard bytes.count >= 3, bytes.count <= 34, bytes[0] == UInt8(ascii: "0") else { return false }
        return bytes[1] | 0x20 == UInt8(ascii: "x") && bytes.dropFirst(2).allSatisfy(\.isHexDigit)
    }

    /// Two session keys are duplicates if METHOD, URI, IV, KEYFORMAT and KEYFORMATVERSIONS are equal (HLS.md rule 16).
    var identity: KeyTag {
        var tag = self
        (tag.line, tag.otherAttributes, tag.statesFormat, tag.statesFormatVersions) = (0, [], false, false)
        return tag
    }
}
