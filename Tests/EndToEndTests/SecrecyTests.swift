import Foundation
import LatchkeyCore
import LatchkeyServices
import Testing

@Suite(.serialized, .timeLimit(.minutes(3))) struct SecrecyTests {
    static let faults: [Fault?] = [nil] + FaultCase.all.map(\.fault)

    @Test(arguments: FaultPlace.all, faults)
    func `no event, error or log line holds a secret`(_ place: FaultPlace, _ fault: Fault?) async throws {
        let run = try await FaultRun(place, fault)
        // The demo asset's keys at least; and where a license was asked for, the SPC.
        #expect(run.secrets.count >= 4 + run.licenseRequests)
        #expect(run.shown.count > 500)
        let shown = SearchedText(run.shown)
        for secret in run.secrets {
            #expect(SecretForms(secret).found(in: shown).isEmpty)
        }
    }

    @Test(arguments: ["a|b+c/d=", "plain-token-1234"])
    func `the search finds a secret in every form`(_ text: String) {
        let secret = Data(text.utf8)
        let forms = SecretForms(secret)
        #expect(forms.found(in: "url?token=\(text)").contains("plain"))
        #expect(forms.found(in: secret.base64EncodedString()).contains("base64"))
        #expect(forms.found(in: secret.hexString) == ["hexadecimal"])
        #expect(forms.found(in: "nothing here").isEmpty)
    }
}
