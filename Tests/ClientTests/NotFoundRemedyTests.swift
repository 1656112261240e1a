import LatchkeyCore
@_spi(Integrations) import LatchkeyVendors
import Testing

@testable import Latchkey

/// A 404 says which address to check: only the license's address has a content's key behind it.
@Suite struct NotFoundRemedyTests {
    @Test(
        arguments: [
            (.lookup, "Check the URL of the entitlement or delivery service."),
            (.setup, "Check the URL of the session service."), (.heartbeat, "Check the URL of the session service."),
            (.teardown, "Check the URL of the session service."), (.license, Diagnosis.Kind.notFound.remedy),
            (.certificate, Diagnosis.Kind.notFound.remedy),
        ] as [(ContentKeyError.Stage, String)])
    func `the remedy is the stage's`(_ stage: ContentKeyError.Stage, _ remedy: String) {
        #expect(ContentKeyError(IntegrationError(.notFound, "There is none."), stage: stage).remedy == remedy)
    }

    @Test func `a vendor's own remedy stays, as does another kind's`() {
        let own = IntegrationError(.notFound, "There is none.", remedy: "Import the key.")
        #expect(ContentKeyError(own, stage: .setup).remedy == "Import the key.")
        let other = ContentKeyError(IntegrationError(.forbidden, "No."), stage: .setup)
        #expect(other.remedy == Diagnosis.Kind.forbidden.remedy)
    }
}
