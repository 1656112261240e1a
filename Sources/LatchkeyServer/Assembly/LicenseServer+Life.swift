import Foundation
import LatchkeyCore
import LatchkeyHTTP
package import LatchkeyLicensing

extension LicenseServer {
    /// Logs the notices for operators at the start, and the address of each listener: standard error has nothing but JSON.
    package func announce() {
        log(current.keySetNotices + current.notices, .life)
        if let word = shared.batches.word { shared.log.write(LogEntry(.info, .life, message: word)) }
        let listeners = [
            ("players", addresses.players), ("packagers", addresses.packagers), ("operators", addresses.operators),
            ("health", addresses.health),
        ]
        for case (let name, let place?) in listeners {
            var entry = LogEntry(.info, .life, message: "The listener for \(name) is open.")
            (entry.listener, entry.url) = (name, place.url)
            shared.log.write(entry)
        }
    }

    func log(_ notices: [Notice], _ event: LogEvent) {
        for notice in notices { shared.log.write(LogEntry(.warning, event, message: notice.text)) }
    }

    /// Serves until a signal stops it: the first one drains, a second one ends immediately, a hang-up reloads the configuration.
    ///
    /// Source: `Documentation/LicenseServer.md` §9.2.
    /// - Parameters:
    ///   - notifier: informs systemd. Defaults to the environment's, if systemd started the process.
    ///   - signals: registers a handler, called with each signal's number. Defaults to none.
    ///   - ready: announces that the server serves; signals are handled by then, so that a reader may stop the server.
    package func serve(
        notifier: ServiceNotifier? = ServiceNotifier(environment: ProcessInfo.processInfo.environment),
        signals: (@escaping @Sendable (Int32) -> Bool) -> Void = { _ in }, ready: () throws -> Void = {}
    ) async rethrows {
        let shared = shared
        let drain = Drain(
            DrainPlan(delay: current.settings.drainDelay), timekeeper: shared.timekeeper,
            began: { [self] phase in
                switch phase {
                case .running: break
                case .draining:
                    shared.isDraining = true
                    for listener in self.listeners { listener.drain() }
                    notifier?.send(.stopping)
                    shared.log.write(LogEntry(.info, .life, message: "The server is shutting down."))
                case .finishing:
                    shared.log.write(LogEntry(.info, .life, message: "The server no longer accepts requests."))
                case .ended: break
                }
            }, finish: { [self] in await stop() })
        signals { [self] number in
            if number == SIGHUP {
                startTask { [self] in
                    notifier?.send(.reloading)
                    _ = try? await reload()
                    notifier?.send(.ready)
                }
            } else {
                drain.signal()
            }
            return true
        }
        try ready()
        notifier?.send(.ready)
        shared.log.write(LogEntry(.info, .life, message: "The server accepts requests."))
        let backgroundTasks = [
            startTask { [self] in await watchFiles() }, startTask { [self] in await followKeys() },
            startTask { [self] in await watchEngines() }, startTask { [self] in await followUsage() },
            startTask { [self] in await writePendingKeys() }, startTask { [self] in await watchPool() },
            startTask { [self] in await recordViewers() }, startTask { [self] in await watchProvider() },
            startTask { [self] in await watchAudit() },
            startTask {
                guard let notifier, let period = notifier.watchdogPeriod else { return }
                while (try? await shared.timekeeper.sleep(for: period)) != nil { notifier.send(.watchdog) }
            },
        ]
        _ = await drain.end()
        for task in backgroundTasks { task.cancel() }
    }
}
