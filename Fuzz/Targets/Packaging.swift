import Foundation
import LatchkeyCore
import LatchkeyHTTP

@testable import LatchkeyFairPlay
@testable import LatchkeyPackaging
@testable import LatchkeyVault

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

/// Whom imported keys are encrypted to: a certificate and its private key.
private let recipient: (certificate: [UInt8], recipient: CPIXRecipient) = {
    do {
        let credential = try TestCredentials.make(bits: 2_048).credential
        let certificate = [UInt8](credential.certificate.der)
        guard let key = credential.key as? RSAPrivateKey,
            let recipient = CPIXRecipient(certificate: certificate, privateKey: key)
        else {
            preconditionFailure("no recipient")
        }
        return (certificate, recipient)
    } catch {
        preconditionFailure("\(error)")
    }
}()

/// A document of a packager, as SPEKE of each version, for import, and as XML. A document that was read can be written, and is then the same. A key
/// leaves only in a reply of status 200.
func fuzzCPIX(_ data: Data) {
    fuzzImport(data)
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

/// An imported document is the same when it is exported, in clear and in cipher; in cipher a changed byte makes it unreadable.
private func fuzzImport(_ data: Data) {
    // A document of keys without an IV is read, and not imported.
    guard let document = try? CPIXDocument(data, recipients: [recipient.recipient], content: ContentName("movie")),
        let entries = try? document.entries()
    else {
        return
    }
    require(!document.keys.isEmpty && entries.count == document.keys.count, "an import without keys")
    for certificates in [[], [recipient.certificate]] {
        guard var written = try? document.data(.init(version: .version2_4, recipients: certificates)) else {
            require(false, "what is imported cannot be exported")
            return
        }
        guard written.count <= 262_144 else { continue }
        require(
            (try? CPIXDocument(written, recipients: [recipient.recipient])) == document, "exported, it is not the same")
        guard !certificates.isEmpty else { continue }
        let index = written.startIndex + data.reduce(0) { ($0 &* 31 &+ Int($1)) & 0xff_ffff } % written.count
        written[index] ^= 1
        let changed = try? CPIXDocument(written, recipients: [recipient.recipient])
        require(
            changed.map { $0.keys.map(\.value) == document.keys.map(\.value) } ?? true,
            "a changed document gives other keys")
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
