import AVFoundation
import LatchkeyAVFoundation
import LatchkeyCore
import LatchkeySimulation
import LatchkeyTesting
import LatchkeyVendors
import StandInEngine
import Testing

/// Calls that get keys to store end, whatever the system, the network and the app do meanwhile.
@Suite(.timeLimit(.minutes(1))) struct OfflineWaitTests {
    /// The call that gets keys.
    enum Call: CaseIterable {
        case storeKeys, renewKeys, download
    }

    /// The interruption while the license service has the requests.
    enum Interruption: CaseIterable {
        case requestsCancelled, mediaServicesReset, sessionExpired, loaderCancelled, networkLost, networkSilent
        case systemSilent

        /// The error that a call throws.
        var code: String {
            switch self {
            case .requestsCancelled, .sessionExpired, .loaderCancelled: "cancelled"
            case .mediaServicesReset: "downloadFailed"
            case .networkLost: "connectionLost"
            case .networkSilent: "timedOut"
            case .systemSilent: "deadlineExceeded"
            }
        }

        /// Happens to the call's session, which has asked for its licenses.
        func happen(on stage: OfflineStage) async {
            switch self {
            case .requestsCancelled: for request in stage.openRequests { stage.session?.standIn.cancel(request) }
            case .mediaServicesReset: stage.session?.standIn.resetMediaServices()
            case .sessionExpired:
                stage.session?.expire()
                // There is no report until the license arrives.
                stage.service.open()
            case .loaderCancelled: stage.loader.cancel()
            case .networkLost: stage.service.lose()
            case .networkSilent: await stage.pass(OfflineStage.attemptTimeout)
            case .systemSilent:
                stage.session?.setDelegate(nil, queue: nil)
                await stage.pass(OfflineStage.limit)
            }
        }
    }

    @Test(arguments: Call.allCases, Interruption.allCases)
    func `a call ends with a reason`(_ call: Call, _ interruption: Interruption) async throws {
        try await OfflineStage.with(call) { stage in
            let task = stage.begin(call)
            await stage.untilAsked()
            await interruption.happen(on: stage)
            #expect(await task.value.error?.offlineCode == interruption.code)
            #expect(stage.time.uptime - stage.start <= OfflineStage.limit)
            await stage.untilNoSession()
            #expect(stage.downloads == 0)
        }
    }

    @Test(arguments: Call.allCases)
    func `cancelling the task ends a call immediately without leftovers`(_ call: Call) async throws {
        try await OfflineStage.with(call) { stage in
            let sleepers = stage.time.sleeperCount
            let task = stage.begin(call)
            await stage.untilAsked()
            task.cancel()
            #expect(await task.value.error?.offlineCode == "cancelled")
            #expect(stage.time.uptime == stage.start)
            await stage.untilNoSession()
            await stage.until { stage.time.sleeperCount <= sleepers }
            #expect(stage.log.violations.isEmpty)
            #expect(stage.downloads == 0)
        }
    }

    @Test(arguments: Call.allCases) func `a finished call can be repeated`(_ call: Call) async throws {
        try await OfflineStage.with(call) { stage in
            let task = stage.begin(call)
            await stage.untilAsked()
            await Interruption.requestsCancelled.happen(on: stage)
            #expect(await task.value.error?.offlineCode == "cancelled")
            stage.service.open()
            #expect(await stage.begin(call).value.error == nil)
            let isReady = try await stage.loader.offline?.asset("movie")?.isReady
            let due = try await stage.loader.offline?.dueForRenewal()
            #expect(isReady == true && due?.isEmpty == true)
            #expect(stage.log.violations.isEmpty)
        }
    }

    @Test(arguments: Call.allCases) func `a hanging store ends at the call's deadline`(_ call: Call) async throws {
        try await OfflineStage.with(call) { stage in
            stage.service.open()
            stage.store.hang()
            let task = stage.begin(call)
            await stage.pass(OfflineStage.limit)
            #expect(await task.value.error?.offlineCode == "deadlineExceeded")
            stage.store.goOn()
        }
    }

    @Test func `a replaced request does not end the wait for its key`() async throws {
        try await OfflineStage.with(.storeKeys) { stage in
            let task = stage.begin(.storeKeys)
            await stage.untilAsked()
            let first = stage.openRequests
            for key in stage.keys {
                stage.session?.processContentKeyRequest(withIdentifier: key.raw, initializationData: nil)
            }
            await stage.untilAsked(times: 2)
            for request in first { stage.session?.standIn.cancel(request) }
            stage.service.open()
            #expect(await task.value.error == nil)
            #expect(stage.log.violations.isEmpty)
        }
    }

    @Test func `a cancelled request's error has a remedy`() async throws {
        try await OfflineStage.with(.storeKeys) { stage in
            let task = stage.begin(.storeKeys)
            await stage.untilAsked()
            await Interruption.requestsCancelled.happen(on: stage)
            let error = try #require(await task.value.error as? ContentKeyError)
            #expect(error.kind == .cancelled)
            #expect(error.isRetryable)
            #expect(error.remedy == "Ask for the keys again.")
            #expect((error.underlying as? AVError)?.code == .contentKeyRequestCancelled)
        }
    }
}

extension Error {
    /// The code of a loader's error, or the number of AVFoundation's.
    fileprivate var offlineCode: String { (self as? ContentKeyError)?.code ?? "\((self as NSError).code)" }
}
