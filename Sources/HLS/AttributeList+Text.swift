extension AttributeList {
    /// The value of an attribute, nil without it. References are replaced in quoted values and hexadecimal sequences
    /// and nowhere else (rule 18).
    func text(_ name: StaticString, _ variables: inout Substitution) throws(PlaylistError) -> String? {
        guard let attribute = self[name] else { return nil }
        return try text(attribute, &variables)
    }

    func text(_ attribute: Attribute, _ variables: inout Substitution) throws(PlaylistError) -> String {
        guard attribute.takesVariables else { return attribute.value.text }
        return try variables.text(of: attribute.value, line: line)
    }

    /// Finds undefined variables in a tag that is not kept.
    func check(_ variables: Substitution) throws(PlaylistError) {
        for attribute in attributes where attribute.takesVariables {
            try variables.check(attribute.value, line: line)
        }
    }
}

extension AttributeList.Attribute {
    /// IV is a hexadecimal sequence even when it is one reference as a whole.
    fileprivate var takesVariables: Bool {
        isQuoted || value.hasPrefix("0x") || value.hasPrefix("0X") || name.equals("IV")
    }
}
