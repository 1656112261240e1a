package import Foundation
package import LatchkeyCore
import LatchkeyFairPlay
import LatchkeyForms

/// Sends a body to a URL: the reply's status and body.
package typealias ModulePost = @Sendable (URL, Data, _ within: Duration) async throws -> (status: Int, body: Data)

/// Observes a module. Called by any thread; must not wait.
package struct ModuleObserver: Sendable {
    /// A request has ended: with a CKC (`nil`) or a failure, after so long.
    package let ended: @Sendable (ModuleFailure.Kind?, Duration) -> Void
    /// A worker process failed or ended, and is replaced.
    package let restarted: @Sendable () -> Void

    package init(
        ended: @escaping @Sendable (ModuleFailure.Kind?, Duration) -> Void = { _, _ in },
        restarted: @escaping @Sendable () -> Void = {}
    ) {
        (self.ended, self.restarted) = (ended, restarted)
    }
}

/// A licensee's own key server module, which makes whole CKCs: a library in worker processes, or an HTTP server on loopback.
///
/// Its processes end with it, after the requests that wait.
///
/// Source: `Documentation/Licensees.md` §6.
package final class LicenseeModule: Sendable {
    /// The most bytes of a reply from a URL.
    package static let replyBytes = ModuleExchange.limit(1)

    private enum Way: Sendable {
        case workers(ModuleWorkers)
        case post(URL, ModulePost, within: Duration)
    }

    /// The module's own version, as the library states it; `nil` for a module behind a URL.
    package let version: String?
    private let way: Way
    private let template: MemberTemplate
    private let test: (spc: Data, assetID: String)?
    private let observer: ModuleObserver

    /// Starts a worker of a library, and waits for it. Blocks as long as the files do.
    /// - Parameter post: sends a body to a URL; `nil` where there is no HTTP client.
    /// - Throws: `secretFileUnreadable`, `secretFileOpenToOthers`, and a `ModuleFailure` for a module that does not start.
    init(
        _ configuration: LicenseeConfiguration.Module, in places: SecretPlaces, post: ModulePost?,
        _ observer: ModuleObserver
    ) throws {
        template = configuration.members
        self.observer = observer
        test = try configuration.selfTest.map { (try places.contents($0.spc), $0.assetID) }
        let time = Duration.milliseconds(configuration.milliseconds)
        if let url = configuration.url.flatMap({ URL(string: $0) }), let post {
            (way, version) = (.post(url, post, within: time), nil)
            return
        }
        let credentials = configuration.credentials.map(places.path)
        if let credentials { try Self.check(credentials, places) }
        let start = ModuleProcess.Start(
            program: configuration.program.map(places.path) ?? "/proc/self/exe",
            library: places.path(configuration.library ?? ""), credentials: credentials)
        let first = try ModuleProcess(start)
        version = first.version
        let count = configuration.workers ?? ProcessInfo.processInfo.activeProcessorCount
        way = .workers(
            ModuleWorkers(start, first: first, count: count, within: time, restarted: observer.restarted))
    }

    /// Refuses files of credentials that others can read. Certificates are public.
    private static func check(_ folder: String, _ places: SecretPlaces) throws {
        guard let names = try? FileManager.default.subpathsOfDirectory(atPath: folder) else {
            throw LicenseeError.unreadable(folder, "It is not a folder")
        }
        for name in names where ![".der", ".cer", ".crt"].contains(where: name.hasSuffix) {
            var isFolder: ObjCBool = false
            let path = "\(folder)/\(name)"
            guard FileManager.default.fileExists(atPath: path, isDirectory: &isFolder), !isFolder.boolValue else {
                continue
            }
            _ = try places.secret(path)
        }
    }

    /// Makes the CKC that answers an SPC.
    /// - Parameters:
    ///   - assetID: the asset that the SPC has to be for: the CKC of any other is discarded.
    ///   - isStated: whether the client named that asset; otherwise it was read in the SPC.
    ///   - contentID: the content's name.
    package func ckc(
        for spc: Data, assetID: ContentIdentifier, isStated: Bool, contentID: String, key: ContentKey,
        terms: LicenseTerms
    ) async throws(ModuleFailure) -> Secret {
        guard let text = assetID.text else { throw .otherAsset(nil) }
        var question = ModuleQuestion(spc: spc, assetID: text, contentID: contentID, key: key.key)
        let reply = try await observed { () throws(ModuleFailure) in
            question.members = try template.members(for: terms, iv: key.iv)
            let reply = try await answer(question)
            guard reply.assetID == text else { throw isStated ? .otherAsset(reply.assetID) : .wrongEcho }
            return reply
        }
        return reply.ckc
    }

    /// The asset that an SPC is for, as the module reads it: from a CKC with a random key, which is discarded.
    package func assetID(of spc: Data) async throws(ModuleFailure) -> ContentIdentifier {
        let question = ModuleQuestion(spc: spc, assetID: "unknown", contentID: "unknown", key: .random(16))
        return ContentIdentifier(try await observed { () throws(ModuleFailure) in try await answer(question) }.assetID)
    }

    /// Asks the module to open the configured SPC, if there is one.
    package func selfTest() async throws(ModuleFailure) {
        guard let test else { return }
        let read = try await assetID(of: test.spc)
        guard read.text != test.assetID else { return }
        throw ModuleFailure(
            .otherAsset,
            "The licensee's module reads the asset “\(String(read.description.prefix(200)).onOneLine)” in the test's SPC.",
            remedy: "Correct licensee.module.selfTest, or ask the module's author.")
    }

    private func observed(
        _ body: () async throws(ModuleFailure) -> ModuleReply
    ) async throws(ModuleFailure) -> ModuleReply {
        let began = ContinuousClock.now
        do throws(ModuleFailure) {
            let reply = try await body()
            observer.ended(nil, .now - began)
            return reply
        } catch {
            observer.ended(error.kind, .now - began)
            throw error
        }
    }

    private func answer(_ question: ModuleQuestion) async throws(ModuleFailure) -> ModuleReply {
        switch way {
        case .workers(let workers): try await workers.answer(question).get()
        case .post(let url, let post, let time): try await answer(question, by: post, to: url, within: time)
        }
    }

    private func answer(
        _ question: ModuleQuestion, by post: ModulePost, to url: URL, within time: Duration
    ) async throws(ModuleFailure) -> ModuleReply {
        let (status, body): (Int, Data)
        do { (status, body) = try await post(url, Data(ModuleExchange.request([question], first: 1)), time) } catch {
            let known = error as? any DiagnosableError
            throw .unreachable(
                known?.reason ?? "\(type(of: error))",
                remedy: "Start the server at licensee.module.url, and look at its log.")
        }
        guard status == 200 else { throw .garbage("the HTTP status \(status)") }
        guard let reply = try ModuleExchange.replies(Array(body), count: 1, first: 1).first else {
            throw .garbage("no item")
        }
        return try reply.get()
    }
}
