extension String {
    /// Whether an XML document has a processing instruction, which no vendor's documents have; the initial declaration does not count.
    ///
    /// Ask before `XMLParser` reads untrusted input: on Linux an instruction without data, such as `<?p?>`, crashes the process.
    package var hasProcessingInstruction: Bool {
        guard hasPrefix("<?xml "), let end = firstRange(of: "?>") else { return contains("<?") }
        return self[end.upperBound...].contains("<?")
    }
}
