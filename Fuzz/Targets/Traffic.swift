import Foundation
import LatchkeySupport
import LatchkeyVendors

/// A HAR file, HTTP messages or a curl command, and whose they seem to be.
func fuzzCapture(_ data: Data) {
    guard let capture = try? TrafficCapture(data) else { return }
    require(capture.messages.count <= 20_000, "more messages than the limit")
    // The comparison with all profiles is slow, and takes each message by itself.
    for message in capture.messages.prefix(4) {
        switch message {
        case .request(let request): _ = identification.identify(request)
        case .reply(let reply, _): _ = identification.identify(reply)
        }
    }
}

private let identification = VendorIdentification(profiles: [.vuDRM, .expressPlay, .nagra])
