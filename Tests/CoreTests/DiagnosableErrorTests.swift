import Foundation
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

    @Test func `as any error it keeps its texts and a stable number`() {
        let error: any Error = Leak()
        #expect(error.localizedDescription == "Water stands in the hall.")
        let bridged = error as NSError
        #expect(bridged.domain == "Latchkey.Leak" && bridged.localizedRecoverySuggestion == "Close the tap.")
        // FNV-1a of "leak", 31 bits; it must not change from release to release.
        #expect(bridged.code == Leak().errorCode && Leak().errorCode == 0x2948_d20e)
    }
}
