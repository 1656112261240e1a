import Foundation
import LatchkeyCore
import LatchkeyFairPlay
import LatchkeyForms
import LatchkeyLicensing

extension ConfigurationFile {
    /// Members that may well differ from node to node.
    private static let ofNode: Set = [
        "players", "packagers", "operators", "health", "threads", "cryptoMB", "drainDelay", "record", "node",
    ]
    private static let ofNodeInStores: Set = ["copy", "copyRows", "region"]

    /// Digests of the members that all nodes have to have alike, by their names, so that a metric shows a node that differs. `tenants` covers the
    /// files that tenants name, such as key sets.
    ///
    /// Blocks as long as the files do.
    /// - Parameter key: derived from the nodes' secret: a digest reveals no secret, and a node with another secret differs in each part.
    func digests(keyedBy key: Secret) -> [String: String] {
        guard case .object(var members)? = JSONValue(settings.canonicalJSON) else { return [:] }
        if case .object(let stores)? = members["stores"] {
            members["stores"] = .object(stores.filter { !Self.ofNodeInStores.contains($0.key) })
        }
        var digests: [String: String] = [:]
        for (name, value) in members where !Self.ofNode.contains(name) {
            var bytes = Array(value.canonicalText.utf8)
            if name == "tenants" {
                // An unreadable file is a separate problem, which the build of the configuration reports.
                for file in settings.tenantFiles.sorted() {
                    bytes += (try? contents(file)) ?? Data()
                }
            }
            digests[name] = (try? MessageDigest.hmac(.sha256, key: key, bytes))?.prefix(8).hexString
        }
        return digests
    }
}
