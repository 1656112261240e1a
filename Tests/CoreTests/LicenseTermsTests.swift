import LatchkeyCore
import Testing

@Suite struct LicenseTermsTests {
    struct Row: Sendable {
        let validity: LicenseTerms.Validity
        let lease: Duration?
        let isPersistable: Bool
    }

    @Test(arguments: [
        Row(validity: .unlimited, lease: nil, isPersistable: false),
        Row(validity: .lease(.seconds(60)), lease: .seconds(60), isPersistable: false),
        Row(validity: .rental(.seconds(60)), lease: nil, isPersistable: false),
        Row(
            validity: .leaseAndRental(lease: .seconds(5), rental: .seconds(60)), lease: .seconds(5),
            isPersistable: false
        ),
        Row(validity: .persistent, lease: nil, isPersistable: true),
        Row(validity: .persistentFor(.seconds(60)), lease: nil, isPersistable: true),
        Row(
            validity: .dualExpiry(storage: .seconds(60), playback: .seconds(5)), lease: nil, isPersistable: true
        ),
    ])
    func `only a lease is renewed and only persistent keys are stored`(row: Row) {
        let terms = LicenseTerms(row.validity)
        #expect(terms.lease == row.lease)
        #expect(terms.isPersistable == row.isPersistable)
    }

    @Test func `nothing is limited unless stated`() {
        #expect(LicenseTerms() == LicenseTerms(.unlimited, hdcp: nil))
    }
}
