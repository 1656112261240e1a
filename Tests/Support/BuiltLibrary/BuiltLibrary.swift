import Foundation
import LatchkeyCore
import LatchkeySystem
import LatchkeyTesting

/// A shared library that a test builds from `Tests/Support`, with macros that leave things out or break them.
package struct BuiltLibrary: Sendable {
    private let path: String
    private let folder: TemporaryFolder

    package static let compiler = ["/usr/bin/cc", "/usr/bin/clang", "/opt/swift/usr/bin/clang"]
        .first(where: FileManager.default.isExecutableFile)
    package static var canBuild: Bool { compiler != nil }

    /// `InsecureTestDerivation` in C, built once for each set of macros.
    package static func derivation(_ macros: String...) throws -> String {
        let key = macros.joined(separator: " ")
        if let built = derivations.withLock({ $0[key] }) { return built.path }
        let built = try BuiltLibrary(
            "Derivation/insecure_test_derivation.c", header: "CLatchkeyDerivation", macros, ["-lcrypto"])
        return derivations.withLock { derivations in
            derivations[key] = derivations[key] ?? built
            return derivations[key]?.path ?? ""
        }
    }

    /// A PKCS#11 module with one key. Each is new, because it counts its operations.
    package static func token(_ macros: [String]) throws -> String {
        let built = try BuiltLibrary("Token/fake_token.c", header: "CPKCS11", macros, [])
        tokens.withLock { $0.append(built) }
        return built.path
    }

    /// `crypto_mb` for any processor, built once for each set of macros.
    package static func cryptoMB(_ macros: String...) throws -> String {
        let key = macros.joined(separator: " ")
        if let built = cryptoMBs.withLock({ $0[key] }) { return built.path }
        let built = try BuiltLibrary("CryptoMB/crypto_mb.c", header: "COpenSSL", macros, ["-lcrypto"])
        return cryptoMBs.withLock { known in
            known[key] = known[key] ?? built
            return known[key]?.path ?? ""
        }
    }

    /// A stand-in for Apple's key server module, built once for each set of macros.
    package static func module(_ macros: [String]) throws -> String {
        let key = macros.joined(separator: " ")
        if let built = modules.withLock({ $0[key] }) { return built.path }
        let built = try BuiltLibrary("Module/standin_module.c", header: "CLatchkeyDerivation", macros, ["-lcrypto"])
        return modules.withLock { known in
            known[key] = known[key] ?? built
            return known[key]?.path ?? ""
        }
    }

    /// The server's program next to the tests, whose workers load a module; `nil` if it was not built.
    package static let server: String? = {
        let folder = URL(filePath: CommandLine.arguments[0]).resolvingSymlinksInPath().deletingLastPathComponent()
        let file = folder.appending(path: "latchkey-server").path
        return FileManager.default.isExecutableFile(atPath: file) ? file : nil
    }()
    package static var canRunModule: Bool { canBuild && server != nil }

    /// The folder of Intel's crypto_mb: the one in `LATCHKEY_CRYPTO_MB`, or the one of `make engines`.
    package static var realCryptoMB: String {
        ProcessInfo.processInfo.environment["LATCHKEY_CRYPTO_MB"] ?? root.appending(path: ".build/crypto-mb").path
    }

    private static let root =
        URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../..").standardizedFileURL

    // The files live as long as the process, as the loaded libraries do.
    private static let derivations = Locked<[String: BuiltLibrary]>([:])
    private static let cryptoMBs = Locked<[String: BuiltLibrary]>([:])
    private static let modules = Locked<[String: BuiltLibrary]>([:])
    private static let tokens = Locked<[BuiltLibrary]>([])

    private init(_ source: String, header: String, _ macros: [String], _ libraries: [String]) throws {
        folder = try TemporaryFolder()
        path = folder.path("libtest.so")
        let arguments = ["-shared", "-fPIC", "-w", "-I", Self.root.appending(path: "Sources/\(header)").path]
        try Command.run(
            Self.compiler ?? "",
            arguments + macros.map { "-D\($0)" } + [Self.root.appending(path: "Tests/Support/\(source)").path]
                + libraries
                + ["-o", path])
    }
}

/// A program that a test runs to its end.
package enum Command {
    package struct Failed: Error {
        package let program: String
        package let output: String
    }

    /// - Returns: its standard output and error.
    @discardableResult
    package static func run(_ program: String, _ arguments: [String]) throws -> String {
        let (process, pipe) = (Subprocess(), Pipe())
        process.executableURL = URL(filePath: program)
        process.arguments = arguments
        process.standardOutput = pipe
        process.standardError = pipe
        try process.run()
        let output = String(decoding: pipe.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        guard process.terminationStatus == 0 else { throw Failed(program: program, output: output) }
        return output
    }
}
