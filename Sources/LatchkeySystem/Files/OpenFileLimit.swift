import Foundation

/// How many files and sockets the system lets this process have open.
package enum OpenFileLimit {
    /// The limit in force.
    package static var current: Int { Int(clamping: limits?.rlim_cur ?? 1_024) }

    /// Raises the limit as far as the system allows without a privilege.
    /// - Returns: the limit in force.
    @discardableResult
    package static func raise() -> Int {
        guard var limits else { return current }
        #if canImport(Darwin)
            // More than this is refused there, also where the hard limit is infinite.
            limits.rlim_cur = min(limits.rlim_max, rlim_t(OPEN_MAX))
        #else
            limits.rlim_cur = limits.rlim_max
        #endif
        _ = setrlimit(kind, &limits)
        return current
    }

    /// A notice to operators if the limit is small.
    package static var notice: String? {
        let limit = current
        guard limit < comfortable else { return nil }
        return
            "The process may open only \(limit) files, which limits the number of concurrent clients; raise ulimit -n or LimitNOFILE."
    }

    /// With fewer, a server of three listeners has little room.
    private static let comfortable = 1_024

    private static var limits: rlimit? {
        var limits = rlimit()
        return getrlimit(kind, &limits) == 0 ? limits : nil
    }

    #if canImport(Glibc)
        private static let kind = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
    #else
        private static let kind = RLIMIT_NOFILE
    #endif
}
