import BuiltLibrary
import Foundation
import LatchkeyCore
import LatchkeyDevice
import LatchkeyFairPlay
import Testing

@testable import LatchkeyDecision
@testable import LatchkeyLicensees

/// Tokens that SoftHSM cannot provide, by our own module.
@Suite(.timeLimit(.minutes(5)), .enabled(if: BuiltLibrary.canBuild, "there is no C compiler"))
struct PKCS11ModuleTests {
    private let input = [UInt8](0..<16)

    private func key(_ macros: String...) throws -> PKCS11Key {
        let address = try PKCS11Address("pkcs11:token=fake;object=key?module-path=\(BuiltLibrary.token(macros))")
        return try PKCS11Key(address, pin: Secret("1234"))
    }

    @Test func `a token with raw RSA only is refused`() {
        let error = #expect(throws: LicenseeError.self) { try key("RAW_RSA_ONLY") }
        #expect(error?.kind == .mechanismMissing)
    }

    @Test(arguments: ["CKF_USER_PIN_FINAL_TRY", "CKF_USER_PIN_LOCKED"])
    func `a token that is locked, or one wrong PIN from it, gets no PIN`(flag: String) {
        let error = #expect(throws: LicenseeError.self) { try key("TOKEN_FLAGS=\(flag)") }
        #expect(error?.kind == .pinLocked)
    }

    @Test(arguments: [
        "CKR_SESSION_HANDLE_INVALID", "CKR_DEVICE_REMOVED", "CKR_USER_NOT_LOGGED_IN", "CKR_KEY_HANDLE_INVALID",
    ])
    func `a session that is lost once is reopened`(result: String) throws {
        let key = try key("FIRST=\(result)")
        #expect(try key.decryptOAEP(input[...]) == Secret(input))
    }

    @Test(arguments: ["CKR_DEVICE_REMOVED", "CKR_USER_NOT_LOGGED_IN", "CKR_DEVICE_ERROR"])
    func `a token that stays away is an outage, not the client's fault`(result: String) throws {
        let key = try key("FIRST=\(result)", "LATER=\(result)")
        let error = #expect(throws: LicenseeError.self) { try key.decryptOAEP(input[...]) }
        #expect(error?.kind == .unavailable)
        #expect(error?.reason.contains(result) == true)
    }

    @Test func `a token that stays away refuses licenses for now`() throws {
        let key = try key("LATER=CKR_DEVICE_ERROR", "FIRST=CKR_DEVICE_ERROR")
        let away = AwayKey(key: key)
        let stage = LicenseeStage.small
        away.isAway.withLock { $0 = false }
        let credential = try KeyServerCredential(
            certificate: stage.credential.certificate, key: away, applicationSecret: stage.credentials.applicationSecret
        )
        away.isAway.withLock { $0 = true }
        let module = KeyServerModule(credentials: [credential], derivation: InsecureTestDerivation())
        let spc = try stage.exchange().spc.revealed
        let error = #expect(throws: KSMRefusal.self) { try module.open(spc) }
        #expect(error?.kind == .keyUnavailable)
        let refusal = try LicenseRefusal(#require(error))
        #expect(refusal.status == 503)
        #expect(refusal.retry == .later)
    }

    @Test(arguments: ["CKR_GENERAL_ERROR", "CKR_FUNCTION_FAILED", "0x40"])
    func `a token's errors for wrong bytes look alike to the caller`(result: String) throws {
        let key = try key("FIRST=\(result)")
        #expect(try key.decryptOAEP(input[...]) == nil)
        #expect(try key.decryptOAEP(input[...]) == Secret(input))
    }

    @Test func `a library must be a module`() throws {
        let built = try BuiltLibrary.derivation()
        let error = #expect(throws: LicenseeError.self) {
            try PKCS11Key(PKCS11Address("pkcs11:token=a;object=b?module-path=\(built)"), pin: Secret("1"))
        }
        #expect(error?.kind == .moduleUnusable)
    }
}

/// A certificate's key that a token takes away.
private struct AwayKey: ApplicationKey {
    let key: PKCS11Key
    let isAway = Locked(true)

    func decryptOAEP(_ wrapped: ArraySlice<UInt8>) throws -> Secret? {
        guard isAway.withLock({ $0 }) else { return try LicenseeStage.small.credential.key.decryptOAEP(wrapped) }
        return try key.decryptOAEP(wrapped)
    }
}
