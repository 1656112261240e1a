import LatchkeyCore
package import LatchkeySystem

/// The limits of every engine, so that data of one fits into any other.
package enum StoreLimits {
    /// The most bytes of a record.
    package static let recordBytes = 256 * 1_024
    /// The most bytes of a tenant's name.
    package static let tenantBytes = 64
    /// The most bytes of a record's name.
    package static let nameBytes = 512
    /// The most rows of a page.
    package static let pageRows = 1_000

    /// A page's limit, clamped to 1 to 1,000.
    package static func page(_ limit: Int) -> Int { max(1, min(limit, pageRows)) }
}

extension RecordKey {
    /// Checks the names.
    /// - Throws: `storeUnfit` for a name that is empty, too long, or has a NUL.
    package func check(for engine: String) throws(StoreError) {
        try StoreError.check(tenant, "tenant", StoreLimits.tenantBytes, engine)
        try StoreError.check(name, "record", StoreLimits.nameBytes, engine)
    }
}

extension Record {
    /// Checks the size.
    /// - Throws: `storeUnfit` for more than 256 KiB.
    package func check(for engine: String) throws(StoreError) {
        guard bytes.count <= StoreLimits.recordBytes else {
            throw StoreError(
                .unfit, engine,
                reason: "A record has \(bytes.count) bytes; the limit is \(StoreLimits.recordBytes).")
        }
    }
}

extension StoreError {
    /// Checks a name.
    /// - Parameters:
    ///   - name: the name, which no message repeats.
    ///   - subject: the kind of thing it names, in one word.
    ///   - most: the most bytes.
    ///   - engine: the engine's name.
    /// - Throws: `storeUnfit` for a name that is empty, too long, or has a NUL, which PostgreSQL's text does not hold.
    package static func check(_ name: String, _ subject: String, _ most: Int, _ engine: String) throws(StoreError) {
        guard 1...most ~= name.utf8.count else {
            throw StoreError(
                .unfit, engine,
                reason: "The name of a \(subject) has \(name.utf8.count) bytes; 1 to \(most) are allowed.")
        }
        guard !name.utf8.contains(0) else {
            throw StoreError(.unfit, engine, reason: "The name of a \(subject) contains a NUL.")
        }
    }
}
