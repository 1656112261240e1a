import LatchkeyCore

/// The reasons that a figure could not be measured.
extension Diagnosis {
    static func toolMissing(_ name: String) -> Self {
        Self(code: "toolMissing", reason: "There is no \(name).", remedy: "Install \(name).")
    }

    static func toolFailed(_ name: String, _ what: String) -> Self {
        Self(
            code: "toolFailed", reason: "\(name) failed in the bench: \(what).",
            remedy: "Run \(name) by hand to see why.")
    }

    static func loadFailed(_ what: String) -> Self {
        Self(
            code: "loadFailed", reason: "The load generator failed: \(what).",
            remedy: "Check that nothing limits connections on loopback.")
    }

    static func figuresMeanLittle(_ what: String) -> Self {
        Self(
            code: "figuresMeanLittle", reason: "\(what).",
            remedy: "Commit, and run make bench, built for release, on an otherwise idle machine.")
    }

    static func pageWithoutTable(_ page: String) -> Self {
        Self(
            code: "pageWithoutTable", reason: "\(page) has no table between <!-- bench --> and <!-- /bench -->.",
            remedy: "Add both lines at the table's place.")
    }

    static let keyLost = Self(
        code: "keyLost", reason: "The lease of a key that the bench keeps alive ended.",
        remedy: "Run the tests of the client's leases.")

    static let notOnThisSystem = Self(
        code: "unsupportedSystem",
        reason: "Allocations, and another process's time, are counted on Linux with glibc only.",
        remedy: "Run the bench on Linux.")
}
