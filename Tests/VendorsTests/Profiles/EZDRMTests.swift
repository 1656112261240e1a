import Foundation
import LatchkeyCore
import LatchkeyVendors
import Testing

/// The bytes of `vendors.md` §5.
@Suite struct EZDRMTests {
    static let guid = "297f600f-1234-1234-b060-2ac13cc42585"
    static let key = KeyURI("skd://fps.ezdrm.com/;\(guid)")

    @Test func `the certificate is asked for without a token`() async throws {
        #expect(try await ProfileWire(.ezdrm, key: Self.key).certificateRequest() == "GET https://c.example/fps.cer")
    }

    @Test(arguments: [
        (VendorProfile.ezdrm, "", "https://fps.ezdrm.com/api/licenses/\(guid)"),
        (.ezdrm, "https://p.example/l/", "https://p.example/l/\(guid)"),
        (.ezdrm, "https://p.example/l?a=b", "https://p.example/l/\(guid)?a=b"),
        (.ezdrm, "https://p.example/l/\(guid)", "https://p.example/l/\(guid)"),
        (.ezdrmComplete, "https://p.example/l/other", "https://p.example/l/other"),
        (.ezdrmTemplate, "https://p.example/^assetId^/l", "https://p.example/\(guid)/l"),
        (.ezdrmCustomData, "", "https://fps.ezdrm.com/api/licenses/\(guid)?customdata=TOKEN"),
        (.ezdrmWeb, "", "https://fps.ezdrm.com/api/licenses/\(guid)"),
    ])
    func `the raw SPC goes to the asset's license`(
        profile: VendorProfile, licenseURL: String, url: String
    ) async throws {
        let expected = """
            POST \(url)
            content-type: application/octet-stream

            fbff0001
            """
        let wire = ProfileWire(profile, key: Self.key, ["licenseURL": licenseURL])
        #expect(try await wire.licenseRequest() == expected)
    }

    @Test func `custom data is the asset's GUID where the app gives none`() async throws {
        let wire = ProfileWire(.ezdrmCustomData, key: Self.key, token: nil, ["licenseURL": "https://p.example"])
        #expect(
            try await wire.licenseRequest().hasPrefix("POST https://p.example/\(Self.guid)?customdata=\(Self.guid)\n"))
    }

    @Test(arguments: [
        (VendorProfile.ezdrm, guid), (.ezdrmComplete, guid), (.ezdrmTemplate, guid), (.ezdrmWeb, ";\(guid)"),
        (.ezdrmCustomData, "skd://fps.ezdrm.com/;\(guid)"),
    ])
    func `clients differ in what the SPC is made for`(profile: VendorProfile, expected: String) throws {
        #expect(try ProfileWire(profile, key: Self.key).contentIdentifier() == expected)
    }

    @Test func `without a semicolon the SPC is made for the whole key URI and the URL names its last part`()
        async throws
    {
        let wire = ProfileWire(.ezdrm, key: "skd://guid-1", ["licenseURL": ""])
        #expect(try wire.contentIdentifier() == "skd://guid-1")
        #expect(try await wire.licenseRequest().hasPrefix("POST https://fps.ezdrm.com/api/licenses/guid-1\n"))
    }

    @Test func `the reply is the CKC`() throws {
        #expect(try ProfileWire(.ezdrm, key: Self.key).license(ProfileWire.ckc).ckc.revealed == ProfileWire.ckc)
    }

    @Test(arguments: [(400, IntegrationError.Kind.invalidRequest), (403, .forbidden), (500, .serverTransient)])
    func `the status says what a refusal means`(status: Int, kind: IntegrationError.Kind) {
        #expect(ProfileWire(.ezdrm, key: Self.key).refusal("no", status: status)?.kind == kind)
    }
}
