extension AttributeList {
    /// Returns the value of an attribute; `nil` if it is missing. Replaces variable references in quoted values and hexadecimal
    /// sequences only (HLS.md rule 18).
    func text(_ name: StaticString, _ variables: inout Substitution) throws(PlaylistError) -> String? {
        guard let attribute = self[name] else { return nil }
        return try text(attribute, &variables)
    }

    func text(_ attribute: Attribute, _ variables: inout Substitution) throws(PlaylistError) -> String {
        guard attribute.takesVariables else { return attribute.value.text }
        return try variables.text(of: attribute.value, line: line)
    }

    /// Throws for undefined variables in a tag that is not kept.
    func check(_ variables: Substitution) throws(PlaylistError) {
        for attribute in attributes where attribute.takesVariables {
            try variables.check(attribute.value, line: line)
        }
    }
}

extension AttributeList.Attribute {
    /// An IV counts as a hexadecimal sequence even if its whole text is one reference.
    fileprivate var takesVariables: Bool {
        isQuoted || value.hasPrefix("0x") || value.hasPrefix("0X") || name.equals("IV")
    }
}
