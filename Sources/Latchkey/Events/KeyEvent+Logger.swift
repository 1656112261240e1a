#if canImport(os)
    public import os
    import LatchkeyCore

    extension Logger {
        /// Writes an event as one line, at the level that fits it. Events hold no secrets, so nothing is hidden.
        public func log(_ event: KeyEvent) { log(level: event.level.type, "\(event.description, privacy: .public)") }
    }

    extension ContentKeyLoader {
        /// Writes each event from now on, until the task is cancelled or the loader is deallocated.
        ///
        ///     let log = loader.log(to: Logger(subsystem: "com.example.app", category: "keys"))
        @discardableResult
        public func log(to logger: Logger) -> Task<Void, Never> {
            let events = events()
            return Task { for await event in events { logger.log(event) } }
        }
    }

    extension KeyEvent.Level {
        fileprivate var type: OSLogType {
            switch self {
            case .debug: .debug
            case .info: .info
            case .warning: .default
            case .error: .error
            }
        }
    }
#endif
