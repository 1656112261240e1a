import Foundation
import Latchkey
import LatchkeySupport
import LatchkeyVendors

/// A HAR file, HTTP messages or a curl command, and whose they seem to be.
func fuzzCapture(_ data: Data) {
    guard let capture = try? TrafficCapture(data) else { return }
    require(capture.exchanges.count <= 20_000, "more exchanges than the limit")
    // The comparison with all profiles is slow, and takes one message at a time.
    for exchange in capture.exchanges.prefix(2) {
        if let request = exchange.request { _ = identification.identify(request) }
        if let reply = exchange.reply { _ = identification.identify(reply) }
    }
}

private let identification = VendorIdentification(profiles: [.vuDRM, .expressPlay, .nagra])
