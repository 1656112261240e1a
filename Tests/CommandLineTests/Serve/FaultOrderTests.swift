import LatchkeyServices
import Testing

@testable import LatchkeyCommandLine
@testable import LatchkeyTerminal

@Suite struct FaultOrderTests {
    @Test(arguments: [
        ("license=status:503", nil, "license", Fault.status(503), FaultSwitch.Span.always),
        ("vudrm/license=reset*2", "vudrm", "license", .connectionReset, .first(2)),
        ("certificate=delay:1.5", nil, "certificate", .delay(.milliseconds(1_500)), .always),
        ("license=unavailable:30*1", nil, "license", .unavailable(retryAfter: .seconds(30)), .first(1)),
        (
            "verimatrix/license=refusal:MDRM-1015:503", "verimatrix", "license",
            .refusal(code: "MDRM-1015", status: 503), .always
        ),
        ("cloud-drm/license=refusal:drm_3034*1", "cloud-drm", "license", .refusal(code: "drm_3034"), .first(1)),
        ("license=truncated", nil, "license", .truncatedPayload, .always),
        ("license=garbage", nil, "license", .garbagePayload, .always),
        ("license=empty", nil, "license", .emptyBody, .always),
        ("license=page", nil, "license", .htmlPage, .always),
        ("license=type", nil, "license", .wrongContentType, .always),
    ])
    func `a fault says where, what and how often`(
        _ text: String, _ service: String?, _ endpoint: String, _ fault: Fault, _ span: FaultSwitch.Span
    ) throws {
        let order = try FaultOrder(text)
        #expect(order.service?.rawValue == service)
        #expect(order.endpoint.rawValue == endpoint)
        #expect(order.fault == fault)
        #expect(order.span == span)
    }

    @Test(arguments: [
        "", "license", "=reset", "license=", "license=explode", "license=status", "license=status:99",
        "license=status:600",
        "license=delay:-1", "license=delay:nan", "license=delay:1e300", "license=reset*0", "license=reset*x",
        "license=reset:1", "license=refusal", "license=refusal:", "license=refusal::500",
    ])
    func `an invalid fault is refused with the right form`(_ text: String) {
        let error = #expect(throws: UsageError.self) { try FaultOrder(text) }
        #expect(error?.message.hasPrefix("needs ") == true)
    }
}

@Suite(.timeLimit(.minutes(5))) struct ServeFaultTests {
    @Test func `a fault for an unknown service is refused before anything is read or made`() async {
        let run = await RecordedRun("serve", "--credentials", "/nowhere", "--fault", "vudmr/license=reset")
        #expect(run.status == .usage)
        #expect(run.error.contains("there is no service \"vudmr\"") && run.error.contains("Did you mean vudrm?"))
    }

    @Test func `leniency with an unlisted rule is refused too`() async {
        let run = await RecordedRun("serve", "--credentials", "/nowhere", "--lenient", "vudrm/tokenOnc")
        #expect(run.status == .usage && run.error.contains("Did you mean vudrm/tokenOnce?"), "\(run.error)")
    }

    /// At another endpoint the fault would silently never happen.
    @Test(arguments: [
        ("cloud-drm/licens=refusal:drm_3034", "cloud-drm has no endpoint \"licens\"", "Did you mean license?"),
        ("vudrm/entitlement=status:503", "vudrm has no endpoint \"entitlement\"", "Endpoints: certificate, license"),
        ("sessionSetp=reset", "no service has an endpoint \"sessionSetp\"", "Did you mean sessionSetup?"),
    ])
    func `a fault at an unknown endpoint is refused before anything is read or made`(
        fault: String, reason: String, hint: String
    ) async {
        let run = await RecordedRun("serve", "--credentials", "/nowhere", "--fault", fault)
        #expect(run.status == .usage && run.error.contains(reason) && run.error.contains(hint), "\(run.error)")
    }

    @Test(arguments: [
        ("cloud-drm/license=refusal:common-3", "Did you mean common_3?"), ("vudrm/license=refusal:X", "refusal:X:403"),
        ("nagra/certificate=refusal:1007", "refusal:1007:403"), ("license=refusal:nothing-like-it", "Codes: "),
    ])
    func `an unlisted code is refused before anything is read or made`(fault: String, hint: String) async {
        let run = await RecordedRun("serve", "--credentials", "/nowhere", "--fault", fault)
        #expect(run.status == .usage && run.error.contains(hint))
    }
}
