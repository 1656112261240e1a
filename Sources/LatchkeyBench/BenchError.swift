import LatchkeyCore

/// Why a figure could not be measured.
struct BenchError: DiagnosableError, Equatable {
    let code: String
    let reason: String
    let remedy: String

    static func toolMissing(_ name: String) -> BenchError {
        BenchError(code: "toolMissing", reason: "There is no \(name).", remedy: "Install \(name).")
    }

    static func toolFailed(_ name: String, _ what: String) -> BenchError {
        BenchError(
            code: "toolFailed", reason: "\(name) did not do what the bench needs: \(what).",
            remedy: "Run \(name) by hand to see why.")
    }

    static func load(_ what: String) -> BenchError {
        BenchError(
            code: "loadFailed", reason: "The load generator failed: \(what).",
            remedy: "Check that nothing limits connections on loopback.")
    }

    static let keyLost = BenchError(
        code: "keyLost", reason: "A key that was to be kept alive came to its end.",
        remedy: "Run the tests of the client's leases.")

    static let notOnThisSystem = BenchError(
        code: "unsupportedSystem",
        reason: "Allocations, and another process's time, are counted on Linux with glibc only.",
        remedy: "Run the bench on Linux.")
}
