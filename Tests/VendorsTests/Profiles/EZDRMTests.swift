import Foundation
import LatchkeyCore
@_spi(Integrations) import LatchkeyVendors
import Testing

/// The bytes of `Documentation/Vendors/EZDRM.md`.
@Suite(.timeLimit(.minutes(5))) struct EZDRMTests {
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

    /// Source: `Documentation/Vendors/EZDRM.md`.
    @Test(arguments: [
        "skd://fps.ezdrm.com/;\(guid)?x=1;y=2", "skd://fps.ezdrm.com/;\(guid)#x;y", "skd://\(guid)", "skd:\(guid)",
        "skd://\(guid)?x=1;y=2", "skd://fps.ezdrm.com/\(guid)",
    ])
    func `one profile takes the GUID of every form, without its query`(key: String) async throws {
        let wire = ProfileWire(.ezdrm, key: KeyURI(key), ["licenseURL": ""])
        #expect(try wire.contentIdentifier() == Self.guid)
        #expect(try await wire.licenseRequest().hasPrefix("POST https://fps.ezdrm.com/api/licenses/\(Self.guid)\n"))
    }

    /// Source: `Documentation/Vendors/EZDRM.md`.
    @Test func `a complete license URL stays as it was given, whatever the key URI's query`() async throws {
        let key = KeyURI("skd://fps.ezdrm.com/;\(Self.guid)?x=1;y=2")
        for profile in [VendorProfile.ezdrm, .ezdrmComplete] {
            let wire = ProfileWire(profile, key: key, ["licenseURL": "https://p.example/licenses/\(Self.guid)"])
            #expect(try await wire.licenseRequest().hasPrefix("POST https://p.example/licenses/\(Self.guid)\n"))
        }
    }

    @Test func `the reply is the CKC`() throws {
        let license = try ProfileWire(.ezdrm, key: Self.key).license(ProfileWire.ckc)
        #expect(license.ckc.revealed == ProfileWire.ckc && license.warnings.isEmpty)
    }

    /// Source: `Documentation/Vendors/README.md` §0: Shaka Player reads these at every vendor.
    @Test(
        arguments: [VendorProfile.ezdrm, .expressPlay, .mux, .genericRaw],
        [ProfileWire.ckcText, "<ckc>\(ProfileWire.ckcText)</ckc>", "\n<ckc>\(ProfileWire.ckcText)</ckc>\n"])
    func `a reply that shipped clients take is taken with a warning`(profile: VendorProfile, body: String) throws {
        let license = try ProfileWire(profile, key: Self.key).license(body)
        #expect(license.ckc.revealed == ProfileWire.ckc)
        #expect(license.warnings.map(\.code) == ["unusualForm"])
    }

    @Test(arguments: [(400, Diagnosis.Kind.invalidRequest), (403, .forbidden), (500, .serverTransient)])
    func `the status says what a refusal means`(status: Int, kind: Diagnosis.Kind) {
        #expect(ProfileWire(.ezdrm, key: Self.key).refusal("no", status: status)?.kind == kind)
    }
}
