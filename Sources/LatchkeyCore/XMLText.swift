extension String {
    /// Whether an XML document has a processing instruction, which no vendor's documents have; the declaration at its start is none.
    ///
    /// Ask before `XMLParser` reads what a stranger sent: on Linux an instruction without data, such as `<?p?>`, ends the process.
    package var hasProcessingInstruction: Bool {
        guard hasPrefix("<?xml "), let end = firstRange(of: "?>") else { return contains("<?") }
        return self[end.upperBound...].contains("<?")
    }
}
