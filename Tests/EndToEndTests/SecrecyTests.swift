import Foundation
import LatchkeyCore
import LatchkeyServices
import LatchkeyVendors
import Testing

@Suite(.timeLimit(.minutes(5))) struct SecrecyTests {
    static let ezdrm = SpecialService(EZDRMService.init) {
        $0.customData = Secret("custom-data-of-a-viewer")
    }

    @Test(arguments: VendorProfile.all.map(\.identifier))
    func `a key arrives without a secret in any event or log line`(_ profile: String) async throws {
        var circumstances = Circumstances(profile: profile)
        // Without a token of the app, its custom data is the asset, which is not secret.
        if profile == "ezdrm-customdata" { circumstances.special = Self.ezdrm }
        let run = try await FaultRun(circumstances)
        #expect(run.error == nil)
        #expect(run.answers == 1 && run.endings == 1)
        // At least the demo asset's keys, the license request, the SPC and the CKC.
        #expect(run.secrets.count >= 5)
        #expect(run.shown.count > 300)
        #expect(run.leaks.isEmpty)
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
