import Foundation
import LatchkeyCore
import LatchkeySystem
import LatchkeyTesting
import TLSPeer

@testable import LatchkeyStores
@testable import StoreProcesses

/// A cluster for all tests that change nothing but records, one after another.
struct SharedCluster: Sendable {
    private let group: Task<(group: RedisClusterGroup, address: RedisAddress, folder: TemporaryFolder?), any Error>
    private let turns = Turns()

    static let plain = SharedCluster(
        group: Task {
            let group = try await RedisClusterGroup()
            return (group, try group.address(), nil)
        })

    static let tls = SharedCluster(
        group: Task {
            let files = try TLSFiles()
            let group = try await RedisClusterGroup(certificates: files.certificates)
            let user = ["ACL", "SETUSER", "node", "on", ">hunter2", "~latchkey:*", "-@all"] + files.rights
            for number in 0..<RedisClusterGroup.primaries * 2 {
                if case .error(let text) = try group.node(number).answer(to: user) { throw StoreError(redis: text) }
            }
            let address = try group.address("", files.parameters)
            return (group, address, files.folder)
        })

    /// Runs a body with a store over an empty cluster.
    func with(_ body: (RedisRecordStore) async throws -> Void) async throws {
        await turns.take()
        do {
            let (group, address, folder) = try await group.value
            try group.flush()
            try await body(RedisRecordStore(address, limit: .seconds(60)))
            withExtendedLifetime(folder) {}
        } catch {
            await turns.give()
            throw error
        }
        await turns.give()
    }
}

/// A certificate that servers and clients show and trust, and a user's name and password, in files.
struct TLSFiles: Sendable {
    let folder: TemporaryFolder
    let certificates: RedisClusterGroup.Certificates

    init() throws {
        folder = try TemporaryFolder()
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: folder.url.path)
        let made = try SelfSigned()
        let certificate = try folder.write(made.certificate, to: "certificate.pem")
        let key = try folder.write(made.privateKey, to: "key.pem")
        // Servers run as another user.
        for file in [certificate, key] {
            try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: file)
        }
        _ = try folder.write("node\n", to: "user")
        _ = try folder.write("hunter2\n", to: "password")
        certificates = .init(certificate: certificate, key: key, authority: certificate)
    }

    /// The rights of a node's user: the commands that the check tries.
    var rights: [String] { (RedisCommandUse.all + RedisCommandUse.ofClusters).map { "+\($0.name)" } + ["+role"] }

    /// The parameters of an address.
    var parameters: String {
        let files = [
            "userFile": "user", "passwordFile": "password", "caFile": "certificate.pem",
            "certificateFile": "certificate.pem", "keyFile": "key.pem",
        ]
        return "?" + files.map { "\($0)=\(folder.path($1))" }.sorted().joined(separator: "&")
    }
}
