import Foundation
import LatchkeyHTTP
import LatchkeyVendorWire
import Testing

/// A request to a license address with nothing in it.
struct BareLicenseRequest: VendorRequest {
    let request = HTTPRequest(method: "POST", target: "/")
    let path: PathParameters
    let vendorEndpoint = VendorEndpoint.license
    let date = Date(timeIntervalSince1970: 0)
    let id = "1"

    init() throws { path = try #require(PathPattern("/").match("/")) }

    func warn(_ code: String, _ text: String) {}
}
