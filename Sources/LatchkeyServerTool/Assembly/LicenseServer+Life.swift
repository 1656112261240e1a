import Foundation
import LatchkeyCore
import LatchkeyServer
import LatchkeyTerminal

extension LicenseServer {
    /// Serves until a signal stops it: the first one drains, a second one ends at once, a hang-up reads the configuration again.
    ///
    /// Source: `Documentation/LicenseServer.md` §9.2.
    func serve() async -> ExitStatus {
        let shared = shared
        let notifier = ServiceNotifier(environment: ProcessInfo.processInfo.environment)
        let drain = Drain(
            DrainPlan(delay: current.settings.drainDelay),
            began: { phase in
                switch phase {
                case .running: break
                case .draining, .finishing:
                    shared.isDraining = true
                    notifier?.send(.stopping)
                    shared.log.write(LogEntry(.info, .life, message: "The server stops."))
                case .ended: break
                }
            }, finish: { [self] in await stop() })
        Interruption.handle { [self] number in
            if number == SIGHUP {
                startTask { [self] in
                    notifier?.send(.reloading)
                    try? await reload()
                    notifier?.send(.ready)
                }
            } else {
                drain.signal()
            }
            return true
        }
        notifier?.send(.ready)
        // Ends with the process.
        if let notifier, let period = notifier.watchdogPeriod {
            startTask {
                while (try? await SystemTimekeeper().sleep(for: period)) != nil { notifier.send(.watchdog) }
            }
        }
        shared.log.write(LogEntry(.info, .life, message: "The server takes requests."))
        switch await drain.end() {
        case .clean: return .yes
        case .late, .atOnce: return .yes
        }
    }
}
