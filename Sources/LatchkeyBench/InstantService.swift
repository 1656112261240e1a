import Foundation
import Latchkey
import LatchkeyCore
import LatchkeyTesting
import LatchkeyVendors

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// Answers each request immediately, with a CKC or the certificate.
final class InstantService: Transport {
    private let state = Locked(0)
    private let ckcBytes: Int

    /// - Parameter ckcBytes: the minimum length of a CKC.
    init(ckcBytes: Int = 0) { self.ckcBytes = ckcBytes }

    /// The number of requested licenses.
    var count: Int { state.withLock { $0 } }

    func send(_ request: URLRequest, bodyLimit: Int) async throws -> HTTPReply {
        guard request.httpMethod == "POST" else {
            return HTTPReply(url: request.url, status: 200, body: SampleBytes.certificate)
        }
        let number = state.withLock { count in
            count += 1
            return count
        }
        return HTTPReply(url: request.url, status: 200, body: Self.ckc(number, ckcBytes))
    }

    /// A CKC with a payload of the requested length.
    private static func ckc(_ number: Int, _ count: Int) -> Data {
        let head = SampleBytes.ckc(number)
        guard count > head.count else { return head }
        let payload = UInt32(count - 28)
        return head.prefix(24) + withUnsafeBytes(of: payload.bigEndian) { Data($0) }
            + Data(repeating: UInt8(truncatingIfNeeded: number), count: Int(payload))
    }
}
