import Foundation
import LatchkeyCore
import LatchkeyHTTP
import LatchkeySystem

// The credentials of a connection. Files are read for each connection, so that a new password or certificate is used without a restart.
extension RedisAddress {
    private static let limit = 1 << 20

    /// The words of `AUTH`; `nil` without a password.
    /// - Throws: `StoreError` of the kind `misconfigured` for a file that cannot be read.
    func login() throws(StoreError) -> [String]? {
        let password = try files[.passwordFile].map { path throws(StoreError) in try Self.line(of: path) }
        guard let password = password ?? self.password?.revealedText else { return nil }
        let user = try files[.userFile].map { path throws(StoreError) in try Self.line(of: path) } ?? user
        return ["AUTH"] + [user, password].compactMap { $0 }
    }

    /// The trusted certificates; `nil` without TLS.
    /// - Throws: `StoreError` of the kind `misconfigured` for a file that cannot be read, or has other contents.
    func trust() throws(StoreError) -> TLSTrust? {
        guard isTLS else { return nil }
        let authorities = try files[.caFile].map { path throws(StoreError) in try Self.text(of: path) }
        var identity: HTTPServerConfiguration.TLS?
        if let certificate = files[.certificateFile], let key = files[.keyFile] {
            identity = .init(certificate: try Self.text(of: certificate), privateKey: try Self.text(of: key))
        }
        do throws(Diagnosis) { return try TLSTrust(authorities: authorities, identity: identity) } catch {
            throw .redis(
                "The certificates for Redis were not accepted: \(error.reason)", .misconfigured,
                remedy: "Set caFile to a PEM file, and certificateFile and keyFile to a matching pair.")
        }
    }

    private static func line(of path: String) throws(StoreError) -> String {
        let line = try text(of: path).trimmingCharacters(in: .whitespacesAndNewlines)
        guard !line.isEmpty else { throw .redis("\(path.onOneLine) is empty.", .misconfigured) }
        return line
    }

    private static func text(of path: String) throws(StoreError) -> String {
        do throws(FileError) { return String(decoding: try InputFile.read(path, limit: limit), as: UTF8.self) } catch {
            throw .redis(error.reason, .misconfigured, remedy: error.remedy)
        }
    }
}
