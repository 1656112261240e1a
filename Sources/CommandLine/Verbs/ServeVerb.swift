import Foundation
import LatchkeyCore
import LatchkeyFairPlay
import LatchkeyHTTP
import LatchkeyServer
import LatchkeyServices

/// `latchkey serve`: the emulated license services and a folder of media, for any client.
struct ServeVerb: Verb {
    private let credentials = Option(
        "credentials", .path("DIR"), "a folder made by latchkey credentials; several serve several certificates",
        .atLeastOnce)
    private let content = Option("content", .path("DIR"), "the folder of media", .required)
    private let keys = Option("keys", .path("FILE"), "the content keys; keys.json in the media folder unless given")
    private let port = Option("port", .port, "the port; 0, which is the default, takes a free one")
    private let tls = Option(
        "tls", .pair("CERT", "KEY"), "serve https with this certificate chain and private key, in PEM")

    var usage: Usage {
        Usage(
            name: "serve", summary: "serve every vendor's license service, and media",
            details: """
                Listens on 127.0.0.1 until it is interrupted. Each vendor's service is found below its name, as /vudrm, and at the
                vendor's own paths where no other vendor has them. Media are below /media as they are, and below /media/VENDOR
                with key URIs that lead to that vendor's service here. The first lines on standard output say where, and what a
                client has to be told.
                """,
            options: [credentials, content, keys, port, tls],
            examples: [
                "latchkey serve --credentials credentials --content media",
                "latchkey serve --credentials credentials --content media --port 8443 --tls chain.pem key.pem",
            ],
            yes: "was interrupted and stopped in order", no: "could not start")
    }

    func run(_ arguments: Arguments, _ console: Console) async throws -> ExitStatus {
        let bench = try start(arguments, console)
        console.print("Listening on \(bench.address)")
        for service in bench.host.services {
            let parameters = service.parameters(at: bench.mount(of: service)).sorted { $0.key < $1.key }
            let token = ("token", service.demoToken().revealedText)
            let settings = (parameters.map { ($0.key, $0.value) } + [token]).map { "--set '\($0.0)=\($0.1)'" }
            console.print(
                "\(service.identifier): \(bench.address)/media/\(service.identifier)/… \(settings.joined(separator: " "))"
            )
        }
        await Interruption.first()
        console.note("Stopping")
        await bench.host.stop()
        return .yes
    }

    private func start(_ arguments: Arguments, _ console: Console) throws -> TestBench {
        let folders = arguments.all(credentials)
        let media = URL(filePath: arguments[content] ?? "")
        let keyFile = arguments[keys] ?? media.appending(path: "keys.json").path
        var configuration = HTTPServerConfiguration()
        configuration.port = arguments[port] ?? 0
        if let files = arguments[tls] {
            let read = { String(decoding: try InputFile.read($0, limit: 1 << 20, console), as: UTF8.self) }
            configuration.tls = .init(certificate: try read(files.first), privateKey: try read(files.second))
        }
        return try TestBench.start(
            credentials: try folders.map { try KeyServerCredential(directory: URL(filePath: $0)) },
            keys: try keyStore(keyFile, console), media: media, configuration: configuration,
            log: { console.note($0) })
    }

    private func keyStore(_ file: String, _ console: Console) throws -> ContentKeyStore {
        guard FileManager.default.fileExists(atPath: file) else {
            throw FileError(
                code: "cannotRead", reason: "\(file) cannot be read: no such file.",
                remedy: "Put the content keys there, or name their file with --keys.")
        }
        do {
            return try ContentKeyStore(json: InputFile.read(file, limit: 64 << 20, console))
        } catch let error as KeyStoreError {
            throw FileError(code: error.code, reason: "\(file): \(error.reason)", remedy: error.remedy)
        }
    }
}
