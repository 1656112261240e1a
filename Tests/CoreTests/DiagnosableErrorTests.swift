import LatchkeyCore
import Testing

@Suite struct DiagnosableErrorTests {
    private struct Leak: DiagnosableError {
        let code = "leak"
        let reason = "Water stands in the hall."
        let remedy = "Close the tap."
    }

    @Test func `it prints as code, reason and remedy`() {
        #expect("\(Leak())" == "leak: Water stands in the hall. Close the tap.")
    }
}
