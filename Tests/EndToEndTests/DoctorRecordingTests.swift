import Foundation
import LatchkeyCore
import LatchkeyServices
import LatchkeySimulation
import Testing

@testable import LatchkeyCommandLine

/// `latchkey doctor --har` on recordings of the live diagnosis's setups: it says the same, or that not enough was seen.
@Suite(
    .enabled(if: ToolProcess.isThere && TestAuthority.isThere, "needs the built tool and openssl"),
    .timeLimit(.minutes(8)))
struct DoctorRecordingTests {
    /// The cause that a recording of a setup shows, where it is not the live cause.
    private enum Shown: Equatable {
        /// Nothing went over the network that could be wrong.
        case tooLittle
        /// The traffic is right; only the device, the decoder or the token's owner can reveal more.
        case right
        /// Another side of the same fault.
        case code(String)
    }

    /// By the setups' sentences. A request that is not sent is not in a recording: there the fault ends before the license request.
    private static let exceptions: [String: Shown] = {
        let noLicense = [
            "the VuDRM token is a year old", "the JSON Web Token's time is over",
            "the JSON Web Token's time has not come",
            "half of the VuDRM token is missing", "the token is for another key",
            "the SPC was made for another certificate", "--spc has a CKC", "--spc has the certificate",
            "--spc has a certificate as PEM", "--spc has a private key", "--spc has the SPC as base64",
            "--spc has the SPC as hexadecimal digits", "--spc has the body of a form", "--spc has a JSON body",
            "--spc has half of the SPC", "--spc has an empty file", "the device's credentials are not the service's",
            "the playlist names a host that the app did not allow",
            "the content token needs a session, and no address of one is set",
        ]
        let noReply = [
            "nothing listens where licenses are", "the license's host has no address",
            "the service breaks the connection",
            "the certificate's server signed its TLS certificate itself",
            "the certificate's port speaks http, not https",
        ]
        let sealed = [
            "the CKC answers another SPC", "the lease ends before a renewal can come",
            "the license has another content key than the packager's fMP4",
            "the license has another content key than the packager's transport stream",
            "the license has another IV than the packager's fMP4",
            "the license has another IV than the packager's transport stream",
            "the second of two rotated keys is wrong",
        ]
        var shown: [String: Shown] = [
            "the app gives no token": .tooLittle, "the app does not say where the certificate is": .tooLittle,
            "the license's address redirects to a stranger": .code("redirectRefused"),
        ]
        for sentence in noLicense { shown[sentence] = .code("licenseNotAsked") }
        for sentence in noReply { shown[sentence] = .code("noReplyCaptured") }
        for sentence in sealed { shown[sentence] = .right }
        return shown
    }()

    @Test(arguments: DoctorSabotageTests.setups)
    func `a recorded fault has the same cause as live`(_ setup: DoctorSetup) async throws {
        try await LiveServices.with(keys: setup.keys?()) { live in
            let stage = try DoctorStage(live, setup.profile, setup.asset)
            try await setup.sabotage(stage)
            let recording = try await DoctorRecording(stage)
            await stage.stop()
            // A playlist that is missing on a server is answered with a status.
            let cause = setup.cause == "resourceMissing" ? "httpStatus" : setup.cause
            #expect(recording.live.cause?.code == cause, "\(recording.live.text)")
            let report = try await recording.report()
            switch Self.exceptions[setup.sentence] {
            case nil: #expect(report.cause?.code == cause, "\(report.text)")
            case .code(let code)?: #expect(report.cause?.code == code && report.verdict == .wrong, "\(report.text)")
            case .tooLittle?: #expect(report.verdict == .unknown && report.cause == nil, "\(report.text)")
            case .right?: #expect(report.verdict == .right && report.cause == nil, "\(report.text)")
            }
            let isWarning = recording.live.checks.allSatisfy { $0.result != .error }
            let isSealed = Self.exceptions[setup.sentence] == .right
            #expect(isWarning || isSealed || report.verdict != .right, "\(report.text)")
            #expect(report.verdict != .right || report.text.contains("is not looked at"))
            if isSealed {
                let opened = try await recording.report(opening: true)
                #expect(opened.cause?.code == cause, "\(opened.text)")
                #expect(isWarning || opened.verdict == .wrong, "\(opened.text)")
            }
            for secret in stage.service.secrets {
                let ids = stage.service.environment.authority.keys.keys.map { Data("\($0.id)".utf8) }
                guard !ids.contains(secret) else { continue }
                #expect(SecretForms(secret).found(in: report.text).isEmpty)
            }
        }
    }

    @Test func `each exception names a setup`() {
        let sentences = Set(DoctorSabotageTests.setups.map(\.sentence))
        #expect(Set(Self.exceptions.keys).isSubset(of: sentences))
    }
}
