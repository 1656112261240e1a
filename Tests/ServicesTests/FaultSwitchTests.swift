import Foundation
import LatchkeyCore
import LatchkeyDevice
import LatchkeyServices
import LatchkeyTesting
import Testing

@Suite(.timeLimit(.minutes(5))) struct FaultSwitchTests {
    /// One good request to each endpoint of each service.
    enum Target: CaseIterable {
        case vuDRMCertificate, vuDRMLicense, cloudDRMCertificate, cloudDRMLicense

        var endpoint: ServiceEndpoint {
            switch self {
            case .vuDRMCertificate, .cloudDRMCertificate: .certificate
            case .vuDRMLicense, .cloudDRMLicense: .license
            }
        }
    }

    @Test(arguments: Target.allCases, [400, 403, 404, 429, 500, 503])
    func `a status`(_ target: Target, _ status: Int) async throws {
        try await withFault(.status(status), at: target) { reply, _ in #expect(reply.status == status) }
    }

    @Test(arguments: Target.allCases)
    func `an empty body`(_ target: Target) async throws {
        try await withFault(.emptyBody, at: target) { reply, _ in
            #expect(reply.status == 200)
            #expect(reply.body.isEmpty)
        }
    }

    @Test(arguments: Target.allCases)
    func `a web page`(_ target: Target) async throws {
        try await withFault(.htmlPage, at: target) { reply, _ in
            #expect(reply.status == 200)
            #expect(reply.headers["content-type"] == "text/html; charset=utf-8")
            #expect(reply.body.starts(with: Data("<!DOCTYPE html>".utf8)))
        }
    }

    @Test(arguments: Target.allCases)
    func `a retry time`(_ target: Target) async throws {
        try await withFault(.unavailable(retryAfter: .seconds(7)), at: target) { reply, _ in
            #expect(reply.status == 503)
            #expect(reply.headers["retry-after"] == "7")
        }
    }

    @Test(arguments: Target.allCases)
    func `a wrong content type around the right bytes`(_ target: Target) async throws {
        try await withFault(.wrongContentType, at: target) { reply, good in
            #expect(reply.headers["content-type"] == "text/html")
            #expect(reply.body.count == good.body.count)
        }
    }

    @Test(arguments: Target.allCases)
    func `half of the payload`(_ target: Target) async throws {
        try await withFault(.truncatedPayload, at: target) { reply, good in
            #expect(reply.status == 200)
            #expect(reply.body.count == good.body.count / 2)
        }
    }

    @Test(arguments: Target.allCases)
    func `garbage of the payload's length`(_ target: Target) async throws {
        try await withFault(.garbagePayload, at: target) { reply, good in
            #expect(reply.status == 200)
            #expect(reply.body.count == good.body.count)
            #expect(reply.body.prefix(4) != good.body.prefix(4))
        }
    }

    @Test func `damage is done inside the JSON envelope`() async throws {
        try await withStage { stage in
            stage.cloudDRM.faults.set(.truncatedPayload, at: .license)
            let reply = try await stage.send(.cloudDRMLicense, accept: "application/json")
            let json = try JSONDecoder().decode([String: String].self, from: reply.body)
            #expect(json["ckc"].flatMap { Data(base64Encoded: $0) }?.isEmpty == false)
        }
    }

    @Test(arguments: Target.allCases)
    func `a reset`(_ target: Target) async throws {
        try await withStage { stage in
            stage.faults(of: target).set(.connectionReset, at: target.endpoint)
            await #expect(throws: (any Error).self) { try await stage.send(target) }
            #expect(stage.host.journal.last?.status == nil)
        }
    }

    @Test(arguments: Target.allCases)
    func `a delay, then the right answer`(_ target: Target) async throws {
        try await withStage { stage in
            stage.faults(of: target).set(.delay(.seconds(5)), at: target.endpoint)
            async let reply = stage.send(target)
            await stage.time.untilSomeoneSleeps()
            stage.time.advance(by: .seconds(5))
            let status = try await reply.status
            #expect(status == 200)
            #expect(stage.host.journal.last?.duration == .seconds(5))
        }
    }

    @Test func `a fault for the first two requests leaves the third alone`() async throws {
        try await withStage { stage in
            stage.vuDRM.faults.set(.status(500), at: .license, for: .first(2))
            var statuses: [Int] = []
            for _ in 0..<4 { statuses.append(try await stage.send(.vuDRMLicense).status) }
            #expect(statuses == [500, 500, 200, 200])
        }
    }

    @Test func `a fault stays at its endpoint and service until it is cleared`() async throws {
        try await withStage { stage in
            stage.vuDRM.faults.set(.status(500), at: .license)
            var statuses: [Int] = []
            for target in Target.allCases { statuses.append(try await stage.send(target).status) }
            #expect(statuses == [200, 500, 200, 200])
            stage.vuDRM.faults.clear()
            let status = try await stage.send(.vuDRMLicense).status
            #expect(status == 200)
        }
    }

    private func withFault(_ fault: Fault, at target: Target, _ check: (Reply, Reply) throws -> Void) async throws {
        try await withStage { stage in
            let good = try await stage.send(target)
            #expect(good.status == 200)
            stage.faults(of: target).set(fault, at: target.endpoint)
            let reply = try await stage.send(target)
            #expect(reply.headers["x-request-id"]?.isEmpty == false)
            try check(reply, good)
        }
    }
}

extension Stage {
    fileprivate func faults(of target: FaultSwitchTests.Target) -> FaultSwitch {
        switch target {
        case .vuDRMCertificate, .vuDRMLicense: vuDRM.faults
        case .cloudDRMCertificate, .cloudDRMLicense: cloudDRM.faults
        }
    }

    fileprivate func send(_ target: FaultSwitchTests.Target, accept: String = "*/*") async throws -> Reply {
        switch target {
        case .vuDRMCertificate:
            return try await send("GET", "/vudrm/certificate/demo-client")
        case .cloudDRMCertificate:
            return try await send("GET", "/cloud-drm/certificate/fairplay?brandGuid=\(Stage.brand)")
        case .vuDRMLicense:
            return try await send(
                "POST", "/vudrm/license/video",
                ["x-vudrm-token": vuDRM.demoToken().revealedText, "Content-Type": "application/octet-stream"],
                try exchange("video").spc.revealed)
        case .cloudDRMLicense:
            return try await send(
                "POST", "/cloud-drm/acquire-license/fairplay?KID=\(Stage.videoKeyID)",
                [
                    "x-drm-brandGuid": Stage.brand, "x-drm-usertoken": cloudDRM.demoToken().revealedText,
                    "Content-Type": "application/octet-stream", "Accept": accept,
                ], try exchange("host/path?KID=\(Stage.videoKeyID)").spc.revealed)
        }
    }
}
