package import Foundation

/// The stored state of an account, as read in the same store call that will change it.
///
/// Source: `Documentation/LicenseServer.md` §6.3 and §7.1.
package struct AccountState: Sendable, Hashable {
    /// Slots, in any order. Ended slots do not count.
    package var slots: [Slot] = []
    /// Sessions that another one stopped.
    package var stopped: [StoppedSession] = []
    /// When each device last got a license.
    package var devices: [String: Date] = [:]
    /// How long devices are remembered: the longest window of the policies that counted them. `nil` for the usual one.
    package var deviceWindow: Duration?
    /// The stored downloads. Ended ones do not count.
    package var downloads: Set<StoredDownload> = []
    /// Licenses in the present minute.
    package var minute: Minute?
    /// The first use of the grant's token; `nil` for a new one.
    package var tokenUse: TokenUse?
    /// When the account first played each content, where a policy asks for it.
    package var firstPlays: [String: Date] = [:]
    /// The engines that are out of service.
    package var outages: Set<Engine> = []
    /// The operators' blocks of the account and the device. No store of accounts keeps them.
    package var blocks: [Block] = []

    package init() {}

    /// The last time that a session was stopped; `nil` if it was not.
    func newestStop(of session: String) -> StoppedSession? {
        stopped.filter { $0.session == session }.max { $0.at < $1.at }
    }

    /// A count of licenses.
    package struct Minute: Sendable, Hashable {
        package var began: Date
        package var licenses: Int

        package init(began: Date, licenses: Int) {
            self.began = began
            self.licenses = licenses
        }
    }

    /// The session that a token was used in.
    package struct TokenUse: Sendable, Hashable {
        package var session: String
        package var first: Date

        package init(session: String, first: Date) {
            self.session = session
            self.first = first
        }
    }
}

/// A content on a device.
package struct StoredDownload: Sendable, Hashable {
    package var content: String
    package var device: String
    /// When the stored key ends; `nil` for a key without an end.
    package var ends: Date?

    package init(content: String, device: String, ends: Date? = nil) {
        self.content = content
        self.device = device
        self.ends = ends
    }
}

/// One stream of an account.
///
/// Source: `Documentation/LicenseServer.md` §7.1.
package struct Slot: Sendable, Hashable {
    package var session: String
    package var device: String?
    /// The device's name for people.
    package var label: String?
    package var profile: String?
    /// The system of the session's last license.
    package var drm: LicenseRequestFacts.DRM
    package var content: String
    /// The classes of the keys that the session took.
    package var tracks: Set<TrackClass>
    /// Rises with every slot of an account: the version of the account's record under which the slot was taken.
    package var fence: Int
    package var started: Date
    /// From here on the slot does not count.
    package var ends: Date

    package init(
        session: String, device: String? = nil, label: String? = nil, profile: String? = nil,
        drm: LicenseRequestFacts.DRM = .fairPlay, content: String, tracks: Set<TrackClass>, fence: Int, started: Date,
        ends: Date
    ) {
        self.session = session
        self.device = device
        self.label = label
        self.profile = profile
        self.drm = drm
        self.content = content
        self.tracks = tracks
        self.fence = fence
        self.started = started
        self.ends = ends
    }

    /// The code with which the same account stops the session: the fence in base 36.
    package var stopCode: String { String(fence, radix: 36) }
}

/// A session that another one stopped, so that it learns why.
package struct StoppedSession: Sendable, Hashable {
    package var session: String
    /// The device that took its place, by its name for people.
    package var by: String?
    package var at: Date

    package init(session: String, by: String?, at: Date) {
        self.session = session
        self.by = by
        self.at = at
    }
}
