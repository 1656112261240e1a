import LatchkeyCore
import Testing

@testable import LatchkeyLicensees

@Suite(.timeLimit(.minutes(5))) struct PKCS11AddressTests {
    @Test func `an address names token, key and module`() throws {
        let address = try PKCS11Address(
            "pkcs11:token=My%20token;serial=0a1b;object=Schl%C3%BCssel;id=%00%ff;type=private?module-path=/usr/lib/a.so"
        )
        #expect(address.token == "My token")
        #expect(address.serial == "0a1b")
        #expect(address.object == "Schlüssel")
        #expect(address.id == [0, 0xff])
        #expect(address.module == "/usr/lib/a.so")
        #expect(PKCS11Address.isMeant(by: "pkcs11:token=a"))
        #expect(!PKCS11Address.isMeant(by: "/etc/private-key.pem"))
    }

    @Test(arguments: [
        "", "/etc/key.pem", "pkcs11:", "pkcs11:token=a;object=b", "pkcs11:object=b?module-path=c",
        "pkcs11:token=a?module-path=c",
        "pkcs11:token=a;object=b;type=public?module-path=c", "pkcs11:token=a;id=?module-path=c",
        "pkcs11:token=a;token=a;object=b?module-path=c", "pkcs11:token=a;object=%zz?module-path=c",
        "pkcs11:token=a;object=%4?module-path=c", "pkcs11:token=a;object=%ff?module-path=c",
        "pkcs11:token=a;object=%00?module-path=c",
        "pkcs11:token=a;object?module-path=c", "pkcs11:token=a;object=b;slot-id=1?module-path=c",
        "pkcs11:token=a;object=b?module-path=c&module-name=d", "pkcs11:token=;object=b?module-path=c",
    ])
    func `only an address of one key is valid`(text: String) {
        let error = #expect(throws: LicenseeError.self) { try PKCS11Address(text) }
        #expect(error?.kind == .addressInvalid)
    }

    @Test(arguments: ["pin-value=98765", "pin-source=file:98765"])
    func `an address with a PIN is refused, and no message shows the PIN`(attribute: String) {
        let error = #expect(throws: LicenseeError.self) {
            try PKCS11Address("pkcs11:token=a;object=b?module-path=c&\(attribute)")
        }
        #expect(error?.kind == .addressInvalid)
        #expect(error?.description.contains("98765") == false)
        #expect(error?.remedy.contains("pinFile") == true)
    }

    @Test func `no message shows an address's control characters`() throws {
        let address = try PKCS11Address("pkcs11:token=a%1b[31m;object=b%0a?module-path=c")
        #expect(!address.description.contains("\u{1b}"))
        #expect(!address.description.contains("\n"))
    }
}
