import Foundation
import LatchkeySystem
import LatchkeyTesting

/// A test's authority, and a server certificate from it, as paths of PEM files.
struct TestAuthority {
    let certificate, server, serverKey: String

    static let tool = ["/usr/bin/openssl", "/usr/local/bin/openssl", "/opt/homebrew/bin/openssl"]
        .first(where: FileManager.default.isExecutableFile)
    static var isThere: Bool { tool != nil }

    /// - Parameters:
    ///   - names: the names for the server's certificate, in OpenSSL's format.
    ///   - days: how long it is valid. A negative number makes an expired certificate.
    init(in folder: TemporaryFolder, names: String = "IP:127.0.0.1,DNS:localhost", days: Int = 2) throws {
        certificate = folder.path("authority.pem")
        server = folder.path("server.pem")
        serverKey = folder.path("server-key.pem")
        let key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"]
        try Self.openssl(
            ["req", "-x509"] + key + ["-subj", "/CN=Latchkey Test Authority", "-days", "2", "-out", certificate]
                + ["-keyout", folder.path("authority-key.pem")])
        try Self.openssl(
            ["req"] + key + ["-subj", "/CN=localhost", "-out", folder.path("request.pem"), "-keyout", serverKey])
        let file = try folder.write("subjectAltName=\(names)\n", to: "names.txt")
        try Self.openssl(
            [
                "x509", "-req", "-in", folder.path("request.pem"), "-CA", certificate, "-CAcreateserial", "-days",
                "\(days)",
            ]
                + ["-CAkey", folder.path("authority-key.pem"), "-extfile", file, "-out", server])
    }

    private static func openssl(_ arguments: [String]) throws {
        let process = Subprocess()
        process.executableURL = URL(filePath: tool ?? "")
        process.arguments = arguments
        process.standardOutput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        try process.run()
        process.waitUntilExit()
        guard process.terminationStatus == 0 else { throw CocoaError(.executableLoad) }
    }
}
