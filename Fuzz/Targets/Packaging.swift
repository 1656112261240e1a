import Foundation
import LatchkeyCore
import LatchkeyHTTP

@testable import LatchkeyServer

private let derivation: KeyDerivation = {
    do {
        let seeds = [SeedVersion(1): Secret([UInt8](repeating: 7, count: 32))]
        return KeyDerivation(try TenantSeeds(tenant: "acme", seeds: seeds, current: SeedVersion(1)))
    } catch {
        preconditionFailure("\(error)")
    }
}()

private let settings: SignalingSettings = {
    do {
        return SignalingSettings(
            fairPlay: try KeyURITemplate("skd://keys.test/{contentId}/{kid}"),
            clearKey: try KeyURITemplate("https://keys.test/{contentId}/{kid}"))
    } catch {
        preconditionFailure("\(error)")
    }
}()

/// A document of a packager, as SPEKE of each version and as XML. What is read can be written, and is then the same. A key leaves only in
/// a reply of status 200.
func fuzzCPIX(_ data: Data) {
    if let tree = try? XMLTree(data), let again = try? XMLTree(tree.data) {
        require(again.data == tree.data, "written, it is not what was read")
    } else {
        require((try? XMLTree(data)) == nil, "written, it is not read again")
    }
    let exchange = SPEKEExchange(
        source: DerivedKeys(derivation), settings: settings, generator: { SeededGenerator(seed: 1) })
    for version in [nil, "2.0", "2.1"] as [String?] {
        let headers: HTTPHeaders = version.map { [.spekeVersion: $0] } ?? [:]
        let outcome = waited { await exchange.answer(headers, body: data) }
        require(
            outcome.keys.isEmpty == (outcome.response.status != 200), "keys without a reply, or a reply without keys")
    }
}

/// Waits for a task. libFuzzer calls from one thread, and nothing else runs there.
private func waited<Result: Sendable>(_ body: @escaping @Sendable () async -> Result) -> Result {
    let result = Locked<Result?>(nil)
    let isDone = DispatchSemaphore(value: 0)
    Task {
        let value = await body()
        result.withLock { $0 = value }
        isDone.signal()
    }
    isDone.wait()
    guard let value = result.withLock({ $0 }) else { preconditionFailure("no result") }
    return value
}
