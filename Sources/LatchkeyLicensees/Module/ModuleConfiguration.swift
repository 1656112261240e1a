import Foundation
import LatchkeyCore
import LatchkeyForms

extension LicenseeConfiguration {
    /// A licensee's key server module, which makes whole CKCs.
    ///
    /// Source: `Documentation/Licensees.md` §6.
    package struct Module: Sendable, Equatable {
        package var library: String?
        package var url: String?
        package var credentials: String?
        package var members = MemberTemplate.usual
        package var workers: Int?
        package var milliseconds = 2_000
        package var program: String?
        package var selfTest: SelfTest?

        package init() {}
    }

    /// An SPC of the module's test credentials.
    package struct SelfTest: Sendable, Equatable {
        package var spc = ""
        package var assetID = ""

        package init() {}
    }
}

extension LicenseeConfiguration.Module {
    static let form: ObjectForm<Self> = ObjectForm(
        empty: Self(),
        members: [
            .optional("library", \.library, .path).explained(
                "The module's shared library. It runs in worker processes. A reload loads a replaced file."),
            .optional("url", \.url, .loopback).explained(
                "In place of a library: where a server on this machine runs the module, such as Apache with `mod_fps`."),
            .optional("credentials", \.credentials, .path).explained(
                "The folder of the module's credentials, which the library gets as `FAIRPLAY_CREDENTIALS_PATH`. Only their owner may read its files."
            ),
            .defaulting("members", \.members, MemberTemplate.form, to: .usual).explained(
                "Where the license's terms go in the module's input: see [Licensees.md](../Licensees.md#6-apples-module)."
            ),
            .optional("workers", \.workers, .whole(1...64)).explained(
                "How many processes run the library. Defaults to one per processor."),
            .defaulting("milliseconds", \.milliseconds, .whole(50...60_000), to: 2_000).explained(
                "How long the module may take for a request. Then its process is ended, and the player gets 503."),
            .optional("program", \.program, .path).explained(
                "The program `latchkey-server` that runs the library, for a server inside another program. Defaults to the running program."
            ),
            .optional("selfTest", \.selfTest, LicenseeConfiguration.SelfTest.form.form).explained(
                "An SPC that the module opens at every start, reload and `--check`."),
        ],
        check: { module, place, problems in
            guard (module.library == nil) == (module.url == nil) else {
                let onlyLibrary = [
                    ("credentials", module.credentials != nil), ("workers", module.workers != nil),
                    ("program", module.program != nil),
                ]
                for (name, isStated) in onlyLibrary where isStated && module.url != nil {
                    problems.append(
                        JSONProblem(
                            place.member(name), "It has no effect on a module at a URL.",
                            remedy: "Remove it, and configure the server at the URL."))
                }
                return
            }
            problems.append(
                JSONProblem(place, "It needs either a library or a URL.", remedy: "Set library or url, not both."))
        })
}

extension LicenseeConfiguration.SelfTest {
    fileprivate static let form: ObjectForm<Self> = ObjectForm(
        empty: Self(),
        members: [
            .required("spc", \.spc, .path).explained("The file of the SPC, made for one of the module's certificates."),
            .required("assetID", \.assetID, .text).explained("The asset id in the SPC."),
        ])
}

extension JSONForm where Value == String {
    /// An address on this machine, as a number: a name might lead elsewhere.
    fileprivate static let loopback = JSONForm(
        text: "an address on loopback, such as http://127.0.0.1:8080/fps",
        read: { text in
            guard let parts = URLComponents(string: text), parts.scheme == "http", parts.user == nil,
                parts.password == nil, parts.fragment == nil, let host = parts.host, URL(string: text) != nil
            else { return nil }
            let address = host.trimmingCharacters(in: CharacterSet(charactersIn: "[]"))
            let isHere = address == "::1" || address.hasPrefix("127.") && AddressRange(address: address) != nil
            return isHere ? text : nil
        },
        write: { $0 })
}
