import Foundation
import LatchkeyCore
import LatchkeyFairPlay
import LatchkeyForms
import LatchkeyHTTP
import LatchkeyMedia
import LatchkeyServices
import LatchkeySimulation
import LatchkeySystem
import LatchkeyTerminal

/// `latchkey serve`: the emulated license services and a folder of media, for any client.
struct ServeVerb: Verb {
    private let credentials = Option(
        "credentials", .path("DIR"), "a folder made by latchkey credentials; several provide several certificates",
        .repeatable)
    private let content = Option("content", .path("DIR"), "the folder of media; the demo's streams if left out")
    private let keys = Option("keys", .path("FILE"), "the content keys; defaults to keys.json in the media folder")
    private let host = Option("host", .text("ADDRESS"), "the address to listen on; defaults to 127.0.0.1")
    private let port = Option("port", .port, "the port; 0, the default, takes a free one")
    private let tls = Option(
        "tls", .pair("CERT", "KEY"), "serve https with this certificate chain and private key, in PEM")
    private let lease = Option("lease", .seconds(), "how long a license lasts if its token does not say")
    private let tokenLifetime = Option(
        "token-lifetime", .seconds(), "how long a new token is valid; defaults to the vendor's own time")
    private let lenient = Option(
        "lenient", .text("SERVICE/RULE"), "let breaches of a rule of the vendor's page pass; see above", .repeatable)
    private let fault = Option("fault", .fault, "make a service fail; see above", .repeatable)

    var printsSecrets: Bool { true }

    var usage: Usage {
        Usage(
            name: "serve", summary: "serve every vendor's license service, and media",
            details: """
                Serves until it is interrupted, and prints the settings of a client, with a latchkey play line per vendor.
                Each vendor's service is below its name, as /vudrm, and at the vendor's own paths where no other vendor has them.
                Media are below /media as they are, and below /media/VENDOR with key URIs that lead to that vendor's service
                here. / is a page with all of this, /health is for probes, /tokens/VENDOR gives a new token each time.
                --json has the keys of the tokens, too.

                Without --credentials it uses the folder credentials, and makes it if it is not there. A key file is
                {"keys":[{"uri":"skd://movie-1","keyId":HEX,"key":HEX,"iv":HEX}]}, each HEX of 32 digits.

                A service refuses requests that its vendor's page forbids, such as the second use of a VuDRM token. The page
                lists these rules; --lenient SERVICE/RULE lets a breach pass with a warning.

                --fault [SERVICE/]ENDPOINT=FAULT[*TIMES], where ENDPOINT is certificate, license, sessionSetup, sessionHeartbeat,
                sessionTeardown, entitlement, token, onPremise or delivery, and FAULT one of:
                """ + "\n" + Help.table(FaultOrder.help),
            options: [credentials, content, keys, host, port, tls, lease, tokenLifetime, lenient, fault, Flag.json],
            examples: [
                "latchkey serve",
                "latchkey serve --credentials credentials --content media --port 8443 --tls chain.pem key.pem",
                "latchkey serve --lease 600 --token-lifetime 30 --fault vudrm/license=unavailable:5*2",
                "latchkey serve --fault cloud-drm/license=refusal:drm_3034",
                "latchkey serve --lenient vudrm/tokenOnce --lenient vudrm/tokenAge",
            ],
            yes: "does not happen: it serves until a signal stops it", no: "could not start")
    }

    func run(_ arguments: Arguments, _ console: Console) async throws -> ExitStatus {
        try check(arguments.all(fault), arguments.all(lenient))
        OpenFileLimit.raise()
        if let notice = OpenFileLimit.notice { console.note("latchkey: \(notice)") }
        let (bench, front) = try await start(arguments, console)
        let sheet = front.sheet(at: bench.address)
        for order in arguments.all(fault) {
            for service in bench.host.services where order.service == nil || order.service == service.identifier {
                service.faults.set(order.fault, at: order.endpoint, for: order.span)
            }
        }
        if arguments[Flag.json] { try console.printJSONLine(sheet) } else { console.print(sheet.text) }
        if !Self.isLoopback(arguments[host]) {
            console.note(
                "latchkey: others on the network can reach this server; its keys and tokens are for tests only.")
        }
        await Interruption.first()
        console.note("Stopping")
        await bench.host.stop()
        return .yes
    }

    private func start(_ arguments: Arguments, _ console: Console) async throws -> (TestBench, ServeFront) {
        let folders = try credentialFolders(arguments, console)
        let held = try folders.map { try KeyServerCredential(directory: URL(filePath: $0)) }
        let folder = try arguments[content].map { URL(filePath: $0) } ?? DemoAsset.located()
        let media = await MediaFolder(folder)
        let configuration = try configuration(arguments, console)
        let lifetime = arguments[tokenLifetime]
        let front = { (services: [any VendorService]) in
            ServeFront(
                services: services, certificates: held.map(\.certificate), folders: folders, media: media,
                scheme: configuration.tls == nil ? "http" : "https")
        }
        let bench = try TestBench.start(
            credentials: held, keys: try keyStore(arguments[keys] ?? folder.appending(path: "keys.json").path, console),
            media: folder,
            policy: LicensePolicy(standard: arguments[lease].map { LicenseTerms(.lease($0)) } ?? LicenseTerms()),
            configuration: configuration, tokenLifetime: lifetime, lenient: Set(arguments.all(lenient)),
            front: { front($0).answer },
            log: { console.note("\(Date.now.formatted(.iso8601)) \($0)") })
        return (bench, front(bench.host.services))
    }

    private func configuration(_ arguments: Arguments, _ console: Console) throws -> HTTPServerConfiguration {
        var configuration = HTTPServerConfiguration()
        configuration.port = arguments[port] ?? 0
        configuration.address = arguments[host] ?? configuration.address
        if let files = arguments[tls] {
            let read = { String(decoding: try InputFile.read($0, limit: 1 << 20, console), as: UTF8.self) }
            configuration.tls = .init(certificate: try read(files.first), privateKey: try read(files.second))
        }
        return configuration
    }

    /// Returns the given folders, or the usual one, which is made if it does not exist.
    private func credentialFolders(_ arguments: Arguments, _ console: Console) throws -> [String] {
        let given = arguments.all(credentials)
        guard given.isEmpty else { return given }
        let folder = "credentials"
        if !FileManager.default.fileExists(atPath: folder) {
            try CredentialsVerb.write(try TestCredentials.make(bits: 2048), to: folder)
            console.note("Made test credentials in the folder \(folder).")
        }
        return [folder]
    }

    private func keyStore(_ file: String, _ console: Console) throws -> ContentKeyStore {
        guard FileManager.default.fileExists(atPath: file) else {
            throw FileError(
                code: "cannotRead", reason: "\(file) cannot be read: no such file.",
                remedy: "Put the content keys there, or name their file with --keys.")
        }
        do {
            return try ContentKeyStore(json: InputFile.read(file, limit: 64 << 20, console))
        } catch let error as Diagnosis {
            throw FileError(code: error.code, reason: "\(file): \(error.reason)", remedy: error.remedy)
        }
    }

    /// Checks that each fault names an existing service and endpoint, and each leniency a rule: otherwise it would never take effect.
    ///
    /// Dummy services are used, so that nothing is made or started for a wrong name.
    private func check(_ orders: [FaultOrder], _ leniencies: [String]) throws(UsageError) {
        let module = KeyServerModule(credentials: [], derivation: InsecureTestDerivation())
        let authority = LicenseAuthority(module: module, keys: ContentKeyStore([]), pool: WorkerPool())
        let services = VendorServices.all(authority: authority)
        let rules = services.flatMap(\.ruleNames)
        if let name = leniencies.first(where: { !rules.contains($0) }) {
            throw UsageError(
                "no vendor's page has the rule \(quoted(name)).", hint: Self.hint(name, among: rules, "Rules"))
        }
        let names = services.map { "\($0.identifier)" }
        for order in orders {
            let meant = services.filter { [nil, $0.identifier].contains(order.service) }
            if let name = order.service, meant.isEmpty {
                throw UsageError(
                    "there is no service \(quoted("\(name)")).", hint: Self.hint("\(name)", among: names, "Services"))
            }
            let endpoints = Set(meant.flatMap(\.routes).map { "\($0.handler.endpoint)" })
            guard endpoints.contains("\(order.endpoint)") else {
                throw UsageError(
                    "\(order.service.map { "\($0)" } ?? "no service") has \(order.service == nil ? "an" : "no") endpoint \(quoted("\(order.endpoint)")).",
                    hint: Self.hint("\(order.endpoint)", among: endpoints.sorted(), "Endpoints"))
            }
            guard case .refusal(let code, nil) = order.fault else { continue }
            let codes = meant.flatMap(\.documentedRefusals).filter { $0.endpoints.contains(order.endpoint) }.map(\.code)
            guard !codes.contains(code) else { continue }
            throw UsageError(
                "no page of \(order.service.map { "\($0)" } ?? "a vendor") has the code \(quoted(code)) at \(order.endpoint).",
                hint: codes.isEmpty
                    ? "Give the status, too: refusal:\(code):403." : Self.hint(code, among: codes, "Codes"))
        }
    }

    private static func hint(_ text: String, among names: [String], _ title: String) -> String {
        Spelling.closest(to: text, among: names).map { "Did you mean \($0)?" }
            ?? "\(title): \(names.joined(separator: ", "))"
    }

    private static func isLoopback(_ address: String?) -> Bool {
        guard let address else { return true }
        return address.hasPrefix("127.") || address == "::1"
    }
}
