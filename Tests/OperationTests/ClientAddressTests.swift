import LatchkeyForms
import LatchkeyHTTP
import LatchkeyLicensing
import Testing

@Suite struct ClientAddressTests {
    private let ranges = ["10.0.0.0/8", "2001:db8:1::/48"].compactMap { AddressRange($0) }

    private func client(
        _ values: [String], field: ForwardingField = .xForwardedFor, peer: String = "10.0.0.1"
    ) -> String? {
        let headers = HTTPHeaders(values.map { .init(name: HTTPHeaderName(field.rawValue), value: $0) })
        let request = HTTPRequest(method: .post, target: "/", headers: headers, remoteAddress: peer)
        return TrustedProxies(ranges, field: field).clientAddress(of: request)?.description
    }

    @Test(arguments: [
        (["203.0.113.7"], "203.0.113.7"),
        (["1.1.1.1, 203.0.113.7"], "203.0.113.7"),
        (["1.1.1.1, 203.0.113.7, 10.2.3.4"], "203.0.113.7"),
        (["1.1.1.1", "203.0.113.7,10.2.3.4", "2001:db8:1::5"], "203.0.113.7"),
        (["203.0.113.7:4711"], "203.0.113.7"),
        (["[2001:db8::7]:4711"], "2001:db8::7"),
        (["2001:db8::7"], "2001:db8::7"),
        (["[::ffff:203.0.113.7]"], "203.0.113.7"),
        (["::ffff:203.0.113.7"], "203.0.113.7"),
        (["203.0.113.7, unknown"], "10.0.0.1"),
        (["203.0.113.7, unknown, 10.2.3.4"], "10.2.3.4"),
        (["203.0.113.7, "], "10.0.0.1"),
        (["203.0.113.7:port"], "10.0.0.1"),
        (["[203.0.113.7]"], "10.0.0.1"),
        (["203.0.113.7/24"], "10.0.0.1"),
        (["10.9.9.9, 10.2.3.4"], "10.9.9.9"),
        ([], "10.0.0.1"),
    ])
    func `the client is the rightmost untrusted address`(values: [String], expected: String) {
        #expect(client(values) == expected)
    }

    @Test(arguments: [
        (["for=203.0.113.7"], "203.0.113.7"),
        (["For=1.1.1.1, for=203.0.113.7;proto=https;by=10.0.0.1"], "203.0.113.7"),
        (["proto=https; for=\"203.0.113.7:80\""], "203.0.113.7"),
        (["for=\"[2001:db8:cafe::17]:4711\""], "2001:db8:cafe::17"),
        (["for=\"[2001:db8:cafe::17]:_port\""], "2001:db8:cafe::17"),
        (["for=203.0.113.7, for=\"[2001:db8:1::2]\""], "203.0.113.7"),
        (["for=203.0.113.7, for=_hidden"], "10.0.0.1"),
        (["for=203.0.113.7, for=unknown"], "10.0.0.1"),
        (["for=203.0.113.7, proto=https"], "10.0.0.1"),
        (["for=1.1.1.1;for=203.0.113.7"], "10.0.0.1"),
        (["for=\"1.1.1.1, for=203.0.113.7"], "203.0.113.7"),
        (["for=\"a,b\";by=c, for=203.0.113.7"], "203.0.113.7"),
        (["for=203.0.113.7, for=10.1.1.1;by=\"a,b\""], "203.0.113.7"),
    ])
    func `Forwarded is read with quotes, ports and hidden names`(values: [String], expected: String) {
        #expect(client(values, field: .forwarded) == expected)
    }

    @Test func `a stranger's claims about itself are ignored`() {
        #expect(client(["1.1.1.1"], peer: "198.51.100.9") == "198.51.100.9")
        #expect(client(["1.1.1.1"], peer: "") == nil)
    }

    @Test func `a chain of thousands of hops is not walked`() {
        let chain = Array(repeating: "10.1.1.1", count: 3_000).joined(separator: ",")
        #expect(client(["203.0.113.7,\(chain)"]) == "10.1.1.1")
    }

    @Test(arguments: [
        (AddressCut.logs, "203.0.113.7", "203.0.113.0/24"), (.logs, "2001:db8:1:2:3::7", "2001:db8:1::/48"),
        (.limits, "2001:db8:1:2ff:3::7", "2001:db8:1:200::/56"), (.network, "2001:db8:1:2:3::7", "2001:db8:1:2::/64"),
        (.network, "203.0.113.7", "203.0.113.7"),
    ])
    func `an address is cut to its network`(cut: AddressCut, address: String, expected: String) throws {
        #expect(cut.range(of: try #require(AddressRange(address))).description == expected)
    }

    @Test(
        arguments: [
            (["de"], "10.0.0.1", "DE"), (["XX"], "10.0.0.1", nil), (["T1"], "10.0.0.1", nil),
            (["DEU"], "10.0.0.1", nil),
            (["DE", "FR"], "10.0.0.1", nil), (["DE"], "198.51.100.9", nil), ([], "10.0.0.1", nil),
        ] as [([String], String, String?)])
    func `a country counts only from a trusted proxy`(values: [String], peer: String, expected: String?) {
        let headers = HTTPHeaders(values.map { .init(name: "CF-IPCountry", value: $0) })
        let request = HTTPRequest(method: .get, target: "/", headers: headers, remoteAddress: peer)
        #expect(CountryField("cf-ipcountry").country(of: request, through: TrustedProxies(ranges)) == expected)
    }
}
