import Foundation
import LatchkeyServices
import TLSPeer
import Testing

/// Requests of doubtful shape to the host of `latchkey serve`.
@Suite(.timeLimit(.minutes(5))) struct ServiceHostShapeTests {
    @Test func `the host refuses every doubtful shape with one reply in the documented form`() async throws {
        let host = ServiceHost([], configuration: Stage.patientServer)
        let port = try host.start()
        for shape in RequestShape.refused {
            let reply = try await RawExchange.run(shape.bytes, port: port)
            #expect(reply.status == shape.status, "\(shape)")
            #expect(reply.isOneRefusal, "\(shape)")
        }
        #expect(host.requestCount == 0)
        await host.stop(within: .zero)
    }
}
